import { asNodeError, mayContinue } from '../../execution/items';
import type { ItemReader } from '../../execution/readFields';
import type { Prepared } from '../../ingest/batches';
import { changedOnly } from '../../ingest/changedOnly';
import type { Fingerprints } from '../../ingest/fingerprints';
import { askStatuses } from '../../ingest/processing';
import { submitDocuments } from '../../ingest/submit';
import type { DocumentOutcome } from '../../ingest/submit';
import type { DocumentRecord } from '../../payloads/document';
import type { Clock } from '../../transport/clock';
import { buildPath } from '../../transport/request';
import type { OperationContext } from '../operation';
import { processingRoutes } from './processingRoutes';
import { inWords, isForeignId } from './rejections';
import type { SubmitSettings } from './settings';
import {
	documentText,
	fileEntries,
	isFileSource,
	itemDocuments,
	prepare,
	readKnowledgebaseId,
} from './sources';
import type { Origin } from './sources';
import type { StoredState } from './storedState';
import { SubmitReport } from './submitReport';

const PROGRESS_EVERY_MS = 1000;

/** One execution of Submit: reads the sources, sends, and has what became of each document reported. */
export class SubmitRun {
	readonly report: SubmitReport;

	private progressShownAt = 0;

	constructor(
		private readonly operation: OperationContext,
		private readonly settings: SubmitSettings,
		private readonly clock: Clock,
		/** What earlier runs have stored; left out where everything is sent. */
		private readonly state?: StoredState,
	) {
		this.report = new SubmitReport(operation.context, settings);
	}

	/** Submits the documents of all input items. */
	async run(): Promise<void> {
		if (isFileSource(this.operation.context)) await this.submitFiles();
		else await this.submitItems();
	}

	/** Reads every item before anything is sent, so that with Stop a bad one leaves nothing stored. */
	private async submitItems(): Promise<void> {
		const byKnowledgebase = new Map<string, Array<Prepared<Origin>>>();
		for (const reader of this.readers()) {
			const { itemIndex } = reader;
			try {
				const knowledgebaseId = readKnowledgebaseId(reader);
				const prepared = byKnowledgebase.get(knowledgebaseId) ?? [];
				byKnowledgebase.set(knowledgebaseId, prepared);
				const found = itemDocuments(reader, knowledgebaseId, this.report.unusedColumns);
				const texts = found.map((document) => documentText(reader, document));
				found.forEach((document, index) =>
					prepared.push(this.prepare(document, itemIndex, knowledgebaseId, texts[index])),
				);
			} catch (caught) {
				this.addFlaw(caught, itemIndex);
			}
			if (this.report.stopError) return;
		}
		for (const [knowledgebaseId, prepared] of byKnowledgebase) {
			if (!this.report.stopError) await this.submit(knowledgebaseId, prepared);
		}
	}

	private async submitFiles(): Promise<void> {
		for (const reader of this.readers()) {
			if (this.report.stopError) return;
			try {
				const knowledgebaseId = readKnowledgebaseId(reader);
				await this.submit(knowledgebaseId, this.fileDocuments(reader, knowledgebaseId));
			} catch (caught) {
				this.addFlaw(caught, reader.itemIndex);
			}
		}
	}

	private readers(): ItemReader[] {
		const { context } = this.operation;
		return context.getInputData().map((_, itemIndex) => ({ context, itemIndex }));
	}

	/** The documents of an item's file; with Stop, the first flaw ends them. */
	private async *fileDocuments(
		reader: ItemReader,
		knowledgebaseId: string,
	): AsyncGenerator<Prepared<Origin>> {
		const { itemIndex } = reader;
		try {
			for await (const entry of fileEntries(reader, knowledgebaseId)) {
				if ('flaw' in entry) {
					this.report.addFlaw(entry.flaw, itemIndex);
					if (this.report.stopError) return;
					continue;
				}
				yield this.prepare(entry.document, itemIndex, knowledgebaseId, entry.text);
			}
		} catch (caught) {
			// The file broke off; what came before is sent all the same.
			this.addFlaw(caught, itemIndex);
		}
	}

	private prepare(
		document: DocumentRecord,
		itemIndex: number,
		knowledgebaseId: string,
		json?: string,
	): Prepared<Origin> {
		const prepared = prepare(document, { itemIndex, position: this.report.nextPlace() }, json);
		if (prepared.id) this.report.noteId(knowledgebaseId, prepared.id);
		this.report.noteParts(document);
		return prepared;
	}

	private async submit(
		knowledgebaseId: string,
		documents: Iterable<Prepared<Origin>> | AsyncIterable<Prepared<Origin>>,
	): Promise<void> {
		const { context, send } = this.operation;
		const { settings, clock } = this;
		const memory = await this.state?.of(knowledgebaseId);
		const path = buildPath('/knowledges/{knowledgebaseId}/bulk', { knowledgebaseId });
		const counts = await submitDocuments({
			documents: memory ? this.changedOnly(documents, memory, knowledgebaseId) : documents,
			batchLimits: settings.batchLimits,
			retryLimits: settings.retryLimits,
			concurrency: settings.concurrency,
			isolateWithoutIds: settings.isolateWithoutIds,
			noKnowledgebase: (failure) => isForeignId(failure, knowledgebaseId),
			send,
			request: (body) => ({ method: 'POST', path, body, timeoutMs: settings.timeoutMs }),
			onOutcome: (result) => this.addOutcome(knowledgebaseId, result, memory),
			goOn: () => mayContinue(context),
			clock,
			signal: context.getExecutionCancelSignal(),
		});
		this.report.summary.addRequests(counts);
	}

	private changedOnly(
		documents: Iterable<Prepared<Origin>> | AsyncIterable<Prepared<Origin>>,
		memory: Fingerprints,
		knowledgebaseId: string,
	): AsyncGenerator<Prepared<Origin>> {
		const { operation, settings, clock, report } = this;
		const routes = processingRoutes(operation, settings, knowledgebaseId, clock);
		return changedOnly(documents, {
			memory,
			onUnchanged: (document, status) => report.addUnchanged(knowledgebaseId, document, status),
			...(settings.process
				? { statusesOf: async (ids) => (await askStatuses(ids, routes)).statuses }
				: {}),
		});
	}

	private addOutcome(
		knowledgebaseId: string,
		result: DocumentOutcome<Origin>,
		memory?: Fingerprints,
	): void {
		const { id, json } = result.document;
		if (id && result.outcome === 'stored') memory?.record(id, json);
		else if (id) memory?.forget(id);
		this.report.addOutcome(knowledgebaseId, inWords(result, knowledgebaseId));
		this.showProgress();
	}

	private addFlaw(caught: unknown, itemIndex: number): void {
		this.report.addFlaw(asNodeError(this.operation.context, caught, itemIndex), itemIndex);
	}

	/** In manual executions, says once a second in the browser's console how far it has come. */
	private showProgress(): void {
		const { context } = this.operation;
		const now = this.clock.now();
		if (context.getMode() !== 'manual' || now - this.progressShownAt < PROGRESS_EVERY_MS) return;
		this.progressShownAt = now;
		context.sendMessageToUI(this.report.summary.line());
	}
}
