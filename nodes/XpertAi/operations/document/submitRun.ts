import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import { asNodeError, mayContinue } from '../../execution/items';
import type { ItemError } from '../../execution/items';
import type { ItemReader } from '../../execution/readFields';
import type { Prepared } from '../../ingest/batches';
import type { Fingerprints } from '../../ingest/fingerprints';
import { submitDocuments } from '../../ingest/submit';
import type { DocumentOutcome } from '../../ingest/submit';
import { Summary } from '../../ingest/summary';
import type { DocumentRecord } from '../../payloads/document';
import type { Clock } from '../../transport/clock';
import { toNodeApiError } from '../../transport/failure';
import { buildPath } from '../../transport/request';
import type { OperationContext } from '../operation';
import { flawItem, outcomeItem, unchangedItem } from './outputs';
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
import { storedState } from './storedState';

const PROGRESS_EVERY_MS = 1000;

/** One execution of Submit: reads the sources, sends, and keeps what became of each document. */
export class SubmitRun {
	readonly summary = new Summary();

	/** Items by their place in the output; left empty when only a summary is asked for. */
	readonly items: INodeExecutionData[] = [];

	/** Ids of the documents stored in this run and their place in the output, by knowledgebase. */
	readonly stored = new Map<string, Array<{ id: string; position: number }>>();

	/** The first failure with On Error set to Stop; nothing new is sent after it. */
	stopError?: ItemError;

	/** Documents that came with the id of an earlier one. */
	replaced = 0;

	/** Documents that were stored, but that the server could not process. */
	processingFailed = 0;

	private readonly seenIds = new Set<string>();
	private position = 0;
	private progressShownAt = 0;

	constructor(
		private readonly operation: OperationContext,
		private readonly settings: SubmitSettings,
		private readonly clock: Clock,
	) {}

	/** Documents that were read, but whose turn did not come. */
	get notSent(): number {
		return this.position - this.summary.counts.documents;
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
				const found = itemDocuments(reader, knowledgebaseId);
				const texts = found.map((document) => documentText(reader, document));
				found.forEach((document, index) =>
					prepared.push(this.prepare(document, itemIndex, knowledgebaseId, texts[index])),
				);
			} catch (caught) {
				this.addFlaw(asNodeError(this.operation.context, caught, itemIndex), itemIndex);
			}
			if (this.stopError) return;
		}
		for (const [knowledgebaseId, prepared] of byKnowledgebase) {
			if (!this.stopError) await this.submit(knowledgebaseId, prepared);
		}
	}

	private async submitFiles(): Promise<void> {
		for (const reader of this.readers()) {
			if (this.stopError) return;
			try {
				const knowledgebaseId = readKnowledgebaseId(reader);
				await this.submit(knowledgebaseId, this.fileDocuments(reader, knowledgebaseId));
			} catch (caught) {
				this.addFlaw(
					asNodeError(this.operation.context, caught, reader.itemIndex),
					reader.itemIndex,
				);
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
					this.addFlaw(entry.flaw, itemIndex);
					if (this.stopError) return;
					continue;
				}
				yield this.prepare(entry.document, itemIndex, knowledgebaseId, entry.text);
			}
		} catch (caught) {
			// The file broke off; what came before is sent all the same.
			this.addFlaw(asNodeError(this.operation.context, caught, itemIndex), itemIndex);
		}
	}

	private prepare(
		document: DocumentRecord,
		itemIndex: number,
		knowledgebaseId: string,
		json?: string,
	): Prepared<Origin> {
		const prepared = prepare(document, { itemIndex, position: this.position++ }, json);
		if (prepared.id && !this.settings.summaryOnly) this.noteId(`${knowledgebaseId}/${prepared.id}`);
		return prepared;
	}

	private async submit(
		knowledgebaseId: string,
		documents: Iterable<Prepared<Origin>> | AsyncIterable<Prepared<Origin>>,
	): Promise<void> {
		const { context, send } = this.operation;
		const { settings, clock } = this;
		const state = settings.skipUnchanged
			? storedState(context, knowledgebaseId, settings.resendAll)
			: undefined;
		const path = buildPath('/knowledges/{knowledgebaseId}/bulk', { knowledgebaseId });
		try {
			const counts = await submitDocuments({
				documents: state ? this.changedOnly(documents, state.fingerprints) : documents,
				batchLimits: settings.batchLimits,
				retryLimits: settings.retryLimits,
				concurrency: settings.concurrency,
				isolateWithoutIds: settings.isolateWithoutIds,
				send,
				request: (body) => ({ method: 'POST', path, body, timeoutMs: settings.timeoutMs }),
				onOutcome: (result) => this.addOutcome(knowledgebaseId, result, state?.fingerprints),
				goOn: () => mayContinue(context),
				clock,
				signal: context.getExecutionCancelSignal(),
			});
			this.summary.addRequests(counts);
		} finally {
			state?.save();
		}
	}

	private async *changedOnly(
		documents: Iterable<Prepared<Origin>> | AsyncIterable<Prepared<Origin>>,
		fingerprints: Fingerprints,
	): AsyncGenerator<Prepared<Origin>> {
		for await (const document of documents) {
			if (document.id !== undefined && fingerprints.has(document.id, document.json)) {
				this.summary.addUnchanged();
				this.place(document.origin.position, () => unchangedItem(document));
				continue;
			}
			// A later document with the same id is compared with this one, not with the last run's.
			if (document.id !== undefined) fingerprints.forget(document.id);
			yield document;
		}
	}

	private addOutcome(
		knowledgebaseId: string,
		result: DocumentOutcome<Origin>,
		fingerprints?: Fingerprints,
	): void {
		const { context } = this.operation;
		const { document } = result;
		const { position, itemIndex } = document.origin;
		this.summary.add(result);
		this.showProgress();
		this.place(position, () => outcomeItem(context, result, this.settings.simplify));
		if (result.outcome === 'stored') {
			if (document.id) fingerprints?.record(document.id, document.json);
			this.noteStored(
				knowledgebaseId,
				document.id ?? (result.record as IDataObject | undefined)?.id,
				position,
			);
			return;
		}
		if (document.id) fingerprints?.forget(document.id);
		if (!mayContinue(context)) {
			this.stopError ??= toNodeApiError(result.failure, { node: context.getNode(), itemIndex });
		}
	}

	private addFlaw(flaw: ItemError, itemIndex: number): void {
		this.summary.addUnreadable(flaw.message);
		const position = this.position++;
		this.place(position, () => flawItem(flaw, itemIndex));
		if (!mayContinue(this.operation.context)) this.stopError ??= flaw;
	}

	/** In manual executions, says once a second in the browser's console how far it has come. */
	private showProgress(): void {
		const { context } = this.operation;
		const now = this.clock.now();
		if (context.getMode() !== 'manual' || now - this.progressShownAt < PROGRESS_EVERY_MS) return;
		this.progressShownAt = now;
		context.sendMessageToUI(this.summary.line());
	}

	private place(position: number, item: () => INodeExecutionData): void {
		if (!this.settings.summaryOnly) this.items[position] = item();
	}

	private noteStored(knowledgebaseId: string, id: unknown, position: number): void {
		if (!this.settings.process || typeof id !== 'string') return;
		const list = this.stored.get(knowledgebaseId) ?? [];
		list.push({ id, position });
		this.stored.set(knowledgebaseId, list);
	}

	private noteId(id: string): void {
		if (this.seenIds.has(id)) this.replaced += 1;
		this.seenIds.add(id);
	}
}
