import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import type { Item } from '../../../execution/item';
import { mayContinue } from '../../../execution/outputs';
import type { ItemError } from '../../../execution/outputs';
import type { ReadyDocument } from '../../../ingest/batches';
import { saidOf } from '../../../ingest/processing';
import type { ProcessingEnd, ProcessingStatus } from '../../../ingest/processing';
import type { DocumentOutcome } from '../../../ingest/submit';
import { Summary } from '../../../ingest/summary';
import type { DocumentRecord } from '../../../payloads/document';
import { flawItem, outcomeItem, processedItem, unchangedItem } from './outcomeItems';
import type { SubmitSettings } from './settings';
import type { Origin } from './sources';

/** How many keys a hint names. */
const EXAMPLES = 2;

/** Where the items of documents are that come to one id. */
type Places = Array<Pick<Origin, 'item' | 'position'>>;

/** What became of each document of one execution of Submit, each in its place. */
export class SubmitReport {
	readonly summary = new Summary();

	/** Items by their place in the output; left empty when only a summary is asked for. */
	readonly items: INodeExecutionData[] = [];

	/** The items that wait for the end of their processing, by knowledgebase and id; none with only a summary. */
	private readonly inProcess = new Map<string, Map<string, Places>>();

	/** The first failure with On Error set to Stop; nothing new is sent after it. */
	stopError?: ItemError;

	/** Documents that came with the id of an earlier one. */
	replaced = 0;

	/** The keys, or ids, of some of these. */
	readonly replacedKeys = new Set<string>();

	/** Files of records in which there was none. */
	emptyFiles = 0;

	/** Documents that come without an id. */
	withoutId = 0;

	/** Those of them whose ids were not left to the server on purpose. */
	idMissed = 0;

	/** Columns of input items that match no field of a document (Map Automatically). */
	readonly unusedColumns = new Set<string>();

	/** Documents that ask for what servers do not do, by the words for it. */
	readonly mixed = new Map<string, number>();

	/** Tables that are sent as text. */
	readAsText = 0;

	/** Documents whose pages or chunks bring ids. */
	withPartIds = 0;

	/** Documents that were stored, but that the server could not process. */
	processingFailed = 0;

	/** Whether processing could not be started or followed at all, which says nothing of the documents. */
	processingBroken = false;

	/** By knowledgebase. */
	private readonly seenIds = new Map<string, Set<string>>();

	private places = 0;

	constructor(
		private readonly context: IExecuteFunctions,
		private readonly settings: SubmitSettings,
	) {}

	/** Documents that were read, but whose turn did not come. */
	get notSent(): number {
		return this.places - this.summary.counts.documents;
	}

	/** Whether batches were stored side by side, after which servers count too few documents (service behaviour, E3). */
	get countMayBeLow(): boolean {
		const { counts, requests } = this.summary;
		return this.settings.concurrency > 1 && requests.batches > 1 && counts.stored > 0;
	}

	/** How many documents, and things that are none, were read by now. */
	get placesGiven(): number {
		return this.places;
	}

	/** The place in the output of the next document that was read. */
	nextPlace(): number {
		return this.places++;
	}

	/** Remembers that a document with this id is to be sent. */
	noteId(knowledgebaseId: string, id: string, key = id): void {
		const seen = this.seenIds.get(knowledgebaseId) ?? new Set();
		const known = seen.size;
		this.seenIds.set(knowledgebaseId, seen.add(id.toLowerCase()));
		if (seen.size > known) return;
		this.replaced += 1;
		if (this.replacedKeys.size < EXAMPLES) this.replacedKeys.add(key);
	}

	/** Remembers what of a document is seldom meant, or is done otherwise by servers. */
	noteRecord(record: DocumentRecord, readAsText = false): void {
		const { pages, chunks } = record;
		const hasId = ({ id }: { id?: string | null }) => Boolean(id);
		if (pages?.some(hasId) || chunks?.some(hasId)) this.withPartIds += 1;
		if (readAsText) this.readAsText += 1;
		const words = mixtureOf(record);
		if (words) this.mixed.set(words, (this.mixed.get(words) ?? 0) + 1);
	}

	/**
	 * A document that was sent, or whose file could not be uploaded, has an outcome.
	 *
	 * @returns the id of one that is stored and to be processed
	 */
	addOutcome(knowledgebaseId: string, result: DocumentOutcome<Origin>): string | undefined {
		const { document, outcome } = result;
		const { position, item } = document.origin;
		this.summary.add(result);
		this.place(position, () => outcomeItem(result, this.settings.simplify));
		if (outcome === 'stored') {
			// With incremental sync, a server keeps a document under the first id its source had.
			const id = (result.record as IDataObject | undefined)?.id ?? document.id;
			return this.noteStored(knowledgebaseId, id, { item, position });
		} else if (!mayContinue(this.context)) {
			this.stopError ??= item.apiError(result.failure);
		}
		return undefined;
	}

	/**
	 * A document is as an earlier run has stored it.
	 *
	 * @param status where its processing stands, if that was asked for
	 * @returns its id where the server is still at it
	 */
	addUnchanged(
		knowledgebaseId: string,
		document: ReadyDocument<Origin>,
		status?: ProcessingStatus,
	): string | undefined {
		const { item, position } = document.origin;
		this.summary.addUnchanged();
		this.place(position, () => {
			const output = unchangedItem(document);
			return status ? processedItem(item, output, saidOf(status), undefined) : output;
		});
		return saidOf(status).word === 'running'
			? this.noteStored(knowledgebaseId, document.id, { item, position })
			: undefined;
	}

	/** A document that is gone from the source was taken out of answers; no item has brought it. */
	addDisabled(id: string, item: Item | undefined): void {
		this.summary.addDisabled();
		if (item) this.append(item.output({ outcome: 'disabled', id }));
	}

	/** Something was not done that concerns no document alone. */
	addRefusal(item: Item, error: ItemError): void {
		this.append(item.failed(error));
	}

	/**
	 * The processing of a stored document has come to its end, or as far as this run follows it.
	 *
	 * @param flaw why nobody finds it
	 */
	addProcessed(
		knowledgebaseId: string,
		id: string,
		end: ProcessingEnd,
		flaw: string | undefined,
	): void {
		const places = this.inProcess.get(knowledgebaseId);
		for (const { item, position } of places?.get(id) ?? []) {
			const output = this.items[position];
			if (output) this.items[position] = processedItem(item, output, end, flaw);
		}
		places?.delete(id);
		if (flaw === undefined) return;
		this.processingFailed += 1;
		this.summary.addUnprocessed(id, flaw);
	}

	/** Something of an item is no document. */
	addFlaw(flaw: ItemError, item: Item): void {
		this.addUnreadable({ origin: { item, position: this.nextPlace() } }, flaw);
	}

	/** A document cannot be read, and is not sent. */
	addUnreadable({ origin }: Pick<ReadyDocument<Origin>, 'origin'>, flaw: ItemError): void {
		const { item, position } = origin;
		this.summary.addUnreadable(flaw.message);
		this.place(position, () => flawItem(item, flaw));
		if (!mayContinue(this.context)) this.stopError ??= flaw;
	}

	private place(position: number, item: () => INodeExecutionData): void {
		if (!this.settings.summaryOnly) this.items[position] = item();
	}

	private append(output: INodeExecutionData): void {
		if (!this.settings.summaryOnly) this.items.push(output);
	}

	private noteStored(
		knowledgebaseId: string,
		id: unknown,
		{ item, position }: Places[number],
	): string | undefined {
		if (!this.settings.process || typeof id !== 'string') return undefined;
		if (this.settings.summaryOnly) return id;
		const ofKnowledgebase = this.inProcess.get(knowledgebaseId) ?? new Map<string, Places>();
		const places = ofKnowledgebase.get(id) ?? [];
		places.push({ item, position });
		this.inProcess.set(knowledgebaseId, ofKnowledgebase.set(id, places));
		return id;
	}
}

/** What a document asks for that servers do not do (service behaviour, "What an assistant can find"). */
function mixtureOf({ filePath, fileUrl, pages, chunks }: DocumentRecord): string | undefined {
	const hasParts = Boolean(pages?.length) || Boolean(chunks?.length);
	if (fileUrl && hasParts) return 'pages beside an address: the pages are not read.';
	if (filePath && !fileUrl) return 'a File Path: the server looks for it on its own disk.';
	return undefined;
}
