import type { Item } from '../../../execution/item';
import type { Execution } from '../../../execution/operation';
import { mayContinue } from '../../../execution/outputs';
import type { Prepared } from '../../../ingest/batches';
import { changedOnly } from '../../../ingest/changedOnly';
import type { Fingerprints } from '../../../ingest/fingerprints';
import { askStatuses } from '../../../ingest/processing';
import { submitDocuments } from '../../../ingest/submit';
import type { DocumentOutcome } from '../../../ingest/submit';
import type { DocumentRecord } from '../../../payloads/document';
import type { Clock } from '../../../transport/clock';
import { buildPath } from '../../../transport/request';
import { processingRoutes } from './routes';
import { inWords, isForeignId } from './rejections';
import type { SubmitSettings } from './settings';
import { documentText, fileEntries, isFileSource, itemDocuments, prepare } from './sources';
import type { Origin } from './sources';
import type { StoredState } from './memory';
import { SubmitReport } from './report';

const PROGRESS_EVERY_MS = 1000;

/** One execution of Submit: reads the sources, sends, and has what became of each document reported. */
export class Submission {
	readonly report: SubmitReport;

	private progressShownAt = 0;

	constructor(
		private readonly execution: Execution,
		private readonly settings: SubmitSettings,
		private readonly clock: Clock,
		/** What earlier runs have stored; left out where everything is sent. */
		private readonly state?: StoredState,
	) {
		this.report = new SubmitReport(execution.context, settings);
	}

	/** Submits the documents of all input items. */
	async run(): Promise<void> {
		const [first] = this.execution.items;
		if (first && isFileSource(first)) await this.submitFiles();
		else await this.submitItems();
	}

	/** Reads every item before anything is sent, so that with Stop a bad one leaves nothing stored. */
	private async submitItems(): Promise<void> {
		const byKnowledgebase = new Map<string, Array<Prepared<Origin>>>();
		for (const item of this.execution.items) {
			try {
				const knowledgebaseId = item.id('knowledgebaseId');
				const prepared = byKnowledgebase.get(knowledgebaseId) ?? [];
				byKnowledgebase.set(knowledgebaseId, prepared);
				const found = itemDocuments(item, knowledgebaseId, this.report.unusedColumns);
				const texts = found.map((document) => documentText(item, document));
				found.forEach((document, index) =>
					prepared.push(this.prepare(document, item, knowledgebaseId, texts[index])),
				);
			} catch (caught) {
				this.addFlaw(caught, item);
			}
			if (this.report.stopError) return;
		}
		for (const [knowledgebaseId, prepared] of byKnowledgebase) {
			if (!this.report.stopError) await this.submit(knowledgebaseId, prepared);
		}
	}

	private async submitFiles(): Promise<void> {
		for (const item of this.execution.items) {
			if (this.report.stopError) return;
			try {
				const knowledgebaseId = item.id('knowledgebaseId');
				await this.submit(knowledgebaseId, this.fileDocuments(item, knowledgebaseId));
			} catch (caught) {
				this.addFlaw(caught, item);
			}
		}
	}

	/** The documents of an item's file; with Stop, the first flaw ends them. */
	private async *fileDocuments(
		item: Item,
		knowledgebaseId: string,
	): AsyncGenerator<Prepared<Origin>> {
		try {
			for await (const entry of fileEntries(item, knowledgebaseId)) {
				if ('flaw' in entry) {
					this.report.addFlaw(entry.flaw, item);
					if (this.report.stopError) return;
					continue;
				}
				yield this.prepare(entry.document, item, knowledgebaseId, entry.text);
			}
		} catch (caught) {
			// The file broke off; what came before is sent all the same.
			this.addFlaw(caught, item);
		}
	}

	private prepare(
		document: DocumentRecord,
		item: Item,
		knowledgebaseId: string,
		json?: string,
	): Prepared<Origin> {
		const prepared = prepare(document, { item, position: this.report.nextPlace() }, json);
		if (prepared.id) this.report.noteId(knowledgebaseId, prepared.id);
		this.report.noteParts(document);
		return prepared;
	}

	private async submit(
		knowledgebaseId: string,
		documents: Iterable<Prepared<Origin>> | AsyncIterable<Prepared<Origin>>,
	): Promise<void> {
		const { context, send } = this.execution;
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
		const { execution, settings, clock, report } = this;
		const routes = processingRoutes(execution, settings, knowledgebaseId, clock);
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

	private addFlaw(caught: unknown, item: Item): void {
		this.report.addFlaw(item.asError(caught), item);
	}

	/** In manual executions, says once a second in the browser's console how far it has come. */
	private showProgress(): void {
		const { context } = this.execution;
		const now = this.clock.now();
		if (context.getMode() !== 'manual' || now - this.progressShownAt < PROGRESS_EVERY_MS) return;
		this.progressShownAt = now;
		context.sendMessageToUI(this.report.summary.line());
	}
}
