import escapeRegExp from 'lodash/escapeRegExp';
import truncate from 'lodash/truncate';
import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import type { Item } from '../../../execution/item';
import { mayContinue } from '../../../execution/outputs';
import type { ItemError } from '../../../execution/outputs';
import type { ReadyDocument } from '../../../ingest/batches';
import { processingWord } from '../../../ingest/processing';
import type { ProcessingStatus, ProcessingWord } from '../../../ingest/processing';
import type { DocumentOutcome } from '../../../ingest/submit';
import { Summary, counted } from '../../../ingest/summary';
import type { DocumentRecord } from '../../../payloads/document';
import { isJsonObject } from '../../../transport/answer';
import { adviceFor } from './advice';
import type { SubmitSettings } from './settings';
import type { Origin } from './sources';

/** A document that is stored in this run, or whose processing an earlier run has started. */
interface ToProcess {
	id: string;
	item: Item;
	/** Its place in the output. */
	position: number;
}

/** What became of each document of one execution of Submit, each in its place. */
export class SubmitReport {
	readonly summary = new Summary();

	/** Items by their place in the output; left empty when only a summary is asked for. */
	readonly items: INodeExecutionData[] = [];

	/** The documents to be processed, by knowledgebase. */
	readonly stored = new Map<string, ToProcess[]>();

	/** The first failure with On Error set to Stop; nothing new is sent after it. */
	stopError?: ItemError;

	/** Documents that came with the id of an earlier one. */
	replaced = 0;

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

	/** The place in the output of the next document that was read. */
	nextPlace(): number {
		return this.places++;
	}

	/** Remembers that a document with this id is to be sent. */
	noteId(knowledgebaseId: string, id: string): void {
		const seen = this.seenIds.get(knowledgebaseId) ?? new Set();
		const known = seen.size;
		this.seenIds.set(knowledgebaseId, seen.add(id));
		if (seen.size === known) this.replaced += 1;
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
			const id = document.id ?? (result.record as IDataObject | undefined)?.id;
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
			return status ? processedItem(item, output, status, undefined) : output;
		});
		return processingWord(status) === 'running'
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

	/** A document that is stored could not be processed. */
	addUnprocessed(id: string, reason: string): void {
		this.processingFailed += 1;
		this.summary.addUnprocessed(id, reason);
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
		rest: Omit<ToProcess, 'id'>,
	): string | undefined {
		if (!this.settings.process || typeof id !== 'string') return undefined;
		const list = this.stored.get(knowledgebaseId) ?? [];
		list.push({ id, ...rest });
		this.stored.set(knowledgebaseId, list);
		return id;
	}
}

/** The item that tells what became of a document. */
function outcomeItem(result: DocumentOutcome<Origin>, simplify: boolean): INodeExecutionData {
	const { document, batch, attempts, outcome } = result;
	const { item } = document.origin;
	const { id, name, key } = document;
	if (result.outcome !== 'stored') {
		const error = item.apiError(result.failure);
		if (outcome === 'unknown') error.message = `${error.message}. ${MAY_BE_STORED}`;
		const { status } = result.failure;
		return item.failed(error, { name, outcome, key, id, status, attempts, batch });
	}
	const record = isJsonObject(result.record) ? result.record : undefined;
	const sent = () => JSON.parse(document.json) as IDataObject;
	const json: IDataObject = simplify
		? {
				name: record?.name ?? name,
				outcome,
				processing: 'none',
				...(key === undefined ? {} : { key }),
				id: record?.id ?? id,
				status: result.status,
				attempts,
				batch,
			}
		: (record ?? sent());
	return item.output(json);
}

const MAY_BE_STORED = 'It is not known whether this document is stored';

/** The item of a document that an earlier run has stored with the same content. */
function unchangedItem({ id, name, key, origin }: ReadyDocument<Origin>): INodeExecutionData {
	return origin.item.output({
		name,
		outcome: 'unchanged',
		...(key === undefined ? {} : { key }),
		id,
	});
}

/** The item of a record that could not be sent. */
function flawItem(item: Item, flaw: ItemError): INodeExecutionData {
	return item.failed(flaw, { outcome: 'rejected' });
}

/** What a document asks for that servers do not do (service behaviour, "What an assistant can find"). */
function mixtureOf({ filePath, fileUrl, pages, chunks }: DocumentRecord): string | undefined {
	const hasParts = Boolean(pages?.length) || Boolean(chunks?.length);
	if (fileUrl && hasParts) return 'pages beside an address: the pages are not read.';
	if (filePath && !fileUrl) return 'a File Path: the server looks for it on its own disk.';
	return undefined;
}

const FLAWS: Partial<Record<ProcessingWord, string>> = {
	error: 'could not be processed',
	cancel: 'was stored, but its processing was cancelled',
	none: 'is stored, but not being processed',
};

/** Why the server has given a document up, or has not begun; `undefined` when it has done neither. */
export function processingFlaw(ended: ProcessingStatus | undefined): string | undefined {
	const what = ended && FLAWS[processingWord(ended)];
	return what && `The document ${what}${ended.processMsg ? `: ${ended.processMsg}` : ''}`;
}

/**
 * The item of a stored document, with how far its processing came; one with a flaw becomes an error item.
 *
 * @param status what the server said last, if its processing started
 * @param flaw why it is not processed
 */
export function processedItem(
	item: Item,
	output: INodeExecutionData,
	status: ProcessingStatus | undefined,
	flaw: string | undefined,
): INodeExecutionData {
	const facts: IDataObject = { processing: processingWord(status) };
	if (status?.processMsg) facts.processMsg = status.processMsg;
	if (flaw === undefined) return { ...output, json: { ...output.json, ...facts } };
	const { id, name, key, outcome } = output.json;
	const known = outcome === 'unchanged' ? outcome : 'stored';
	const error = item.operationError(flaw, adviceFor(flaw));
	return item.failed(error, { name, outcome: known, ...facts, key, id });
}

/** Says how much is stored and what a second run would do. */
export function withCounts(error: ItemError, { summary, notSent }: SubmitReport): ItemError {
	const { stored, unknown, rejected, unchanged } = summary.counts;
	const counts = [`${counted(stored, 'document is', 'documents are')} stored`];
	if (unchanged > 0) counts.push(`${counted(unchanged, 'was', 'were')} unchanged`);
	if (unknown > 0) counts.push(`${unknown} may be stored`);
	if (rejected > 0) counts.push(`${counted(rejected, 'is', 'are')} not stored`);
	if (notSent > 0) counts.push(`${counted(notSent, 'was', 'were')} not sent`);
	error.message = `${error.message}. ${counts.join(', ')}`;
	const reasons = reasonsOf({ summary });
	error.description = [
		error.description,
		reasons.length > 1 ? `Reasons: ${reasons.join('; ')}.` : '',
		'A second run replaces documents that carry a UUID as ID and stores all others again.',
	]
		.filter(Boolean)
		.join(' ');
	return error;
}

/** Why documents failed, as far as it fits into a message. */
function reasonsOf({ summary }: Pick<SubmitReport, 'summary'>): string[] {
	return [...new Set(summary.failed.map(({ reason }) => reason))].slice(0, 3);
}

/** With Stop, documents that could not be processed end the workflow; they are stored nevertheless. */
export function processingError(item: Item, report: SubmitReport, notes: string[]): ItemError {
	const reasons = reasonsOf(report);
	const advice = new Set(reasons.map(adviceFor));
	return item.operationError(notes.join(' '), [`${reasons.join('; ')}.`, ...advice].join(' '));
}

export function summaryItem(
	context: IExecuteFunctions,
	{ summary }: SubmitReport,
	seconds: number,
	notes: string[],
): INodeExecutionData {
	const { requests, ...counts } = summary.requests;
	const json: IDataObject = {
		...summary.counts,
		...(notes.length > 0 ? { notes } : {}),
		failed: summary.failed as unknown as IDataObject[],
		seconds: Math.round(seconds * 1000) / 1000,
		attempts: requests,
		...counts,
	};
	return { json, pairedItem: context.getInputData().map((_, item) => ({ item })) };
}

/** How much of a hint, which is short, names columns. */
const MAX_COLUMNS_LENGTH = 70;

/** Columns that were mapped to nothing, without those an expression of the node names. */
function unusedColumns(
	context: IExecuteFunctions,
	{ unusedColumns: unused }: SubmitReport,
): string[] {
	if (unused.size === 0) return [];
	const parameters = JSON.stringify(context.getNode().parameters);
	return [...unused].filter(
		(name) => !new RegExp(`json(\\.|\\[\\W{1,2})${escapeRegExp(name)}\\b`).test(parameters),
	);
}

const COUNT_MAY_BE_LOW =
	"The server's own count (documentNum) may be too low: several batches went at once. Nothing is lost by that.";

export function addHints(context: IExecuteFunctions, report: SubmitReport, notes: string[]): void {
	const messages = [report.summary.line(), ...notes];
	if (report.replaced > 0) {
		const documents = counted(report.replaced, 'document');
		messages.push(`${documents} came with the key or ID of an earlier one and replaced it.`);
	}
	if (report.countMayBeLow) messages.push(COUNT_MAY_BE_LOW);
	if (report.idMissed > 0) {
		const documents = counted(report.idMissed, 'document has', 'documents have');
		messages.push(
			`${documents} no ID: a second run stores them again. A key for Document ID prevents that.`,
		);
	}
	const unused = unusedColumns(context, report);
	if (unused.length > 0) {
		const columns = truncate(unused.join(', '), { length: MAX_COLUMNS_LENGTH });
		messages.push(`Columns that match no field of a document: ${columns}`);
	}
	if (report.withPartIds > 0) {
		const documents = counted(report.withPartIds, 'document has', 'documents have');
		messages.push(`${documents} pages or chunks with IDs: on Xpert, one that changes is lost.`);
	}
	for (const [words, count] of report.mixed)
		messages.push(`${counted(count, 'document has', 'documents have')} ${words}`);
	if (report.readAsText > 0) {
		const tables = counted(report.readAsText, 'table is', 'tables are');
		messages.push(`${tables} sent as text: servers cannot read sheets.`);
	}
	if (report.summary.counts.unknown > 0 && mayContinue(context)) {
		messages.push(
			'Documents reported as unknown may be stored; without an ID, sending them again may store them twice.',
		);
	}
	context.addExecutionHints(
		...messages.map((message) => ({ message, location: 'outputPane' as const })),
	);
}
