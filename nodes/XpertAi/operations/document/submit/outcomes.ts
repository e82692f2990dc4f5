import isUndefined from 'lodash/isUndefined';
import omitBy from 'lodash/omitBy';
import type { IDataObject, INodeExecutionData, NodeApiError } from 'n8n-workflow';

import { rawOutput } from '../../../execution/audience';
import type { AnswerOutput } from '../../../execution/audience';
import { quoted } from '../../../execution/badInput';
import type { NamedId } from '../../../execution/ids';
import type { Item } from '../../../execution/item';
import { documentExtension } from '../../../execution/mimeTypes';
import { asJson } from '../../../execution/outputs';
import type { ReadyDocument } from '../../../ingest/batches';
import { processingEndOf } from '../../../ingest/processingStatus';
import type { ProcessingEnd, ProcessingStatus } from '../../../ingest/processingStatus';
import type { DocumentOutcome } from '../../../ingest/storing';
import { failureMessage } from '../../../transport/failure';
import type { Failure } from '../../../transport/failure';
import { SOURCES, WITH_A_FILE } from './sources';

/** The outcomes of documents, in the order of output, with their words in a count. */
export const OUTCOMES = {
	/** Stored and processed. */
	found: 'found',
	/** Stored only. */
	stored: 'stored',
	unchanged: 'unchanged and not sent',
	replaced: 'replaced by a later one',
	disabled: 'disabled',
	rejected: 'rejected',
	unknown: 'unknown',
	notSent: 'not sent',
};

export type OutcomeName = keyof typeof OUTCOMES;

/** The origin of a document: its item, and what became of it. */
export interface Origin {
	item: Item;
	name?: string;
	outcome?: OutcomeName;
	/** Whether it is kept to the end of the run. */
	isTracked?: boolean;
	/** Whether its file is uploaded before it is sent. */
	isUploaded?: boolean;
	/** Whether a later document of the run has the same key or ID. */
	isReplaced?: boolean;
	/** Its output item, unless only a summary is wanted. */
	output?: INodeExecutionData;
}

/**
 * The outcome of a document of Submit. `unchanged`: an earlier run stored it with the same content; with the status of
 * its processing, if that was fetched.
 */
export type SubmitOutcome =
	| DocumentOutcome<Origin>
	| { document: ReadyDocument<Origin>; outcome: 'unchanged'; status?: ProcessingStatus };

/** The output item with the outcome of a document. */
export function outcomeItem(result: SubmitOutcome, output: AnswerOutput): INodeExecutionData {
	const { document, outcome } = result;
	const { id, key, origin } = document;
	const { item, name } = origin;
	const facts = defined({ name, outcome, key, id });
	if (result.outcome === 'unchanged')
		return item.output({
			...facts,
			...(result.status && processingFacts(processingEndOf(result.status))),
		});
	if (result.outcome === 'notSent') {
		const hint = `The hints of the node say why. With 0 in "${item.labelOf('options.stopAfterFailures')}" it sends all the same.`;
		const error = item.operationError(result.reason ?? NOT_SENT, result.reason ? undefined : hint);
		return item.failed(error, facts);
	}
	const { batch, attempts } = result;
	if (result.outcome !== 'stored') {
		const error = storingError(document, result.failure);
		if (outcome === 'unknown') error.message = `${error.message}. ${MAY_BE_STORED}`;
		return item.failed(error, { ...facts, status: result.failure.status, attempts, batch });
	}
	const record = asJson(result.record);
	if (!output.simplify) return item.output(rawOutput(output, record));
	const { name: storedName = name, id: storedId } = record;
	const stored = defined({ name: storedName, outcome, processing: 'none', key, id: storedId });
	return item.output({ ...stored, status: result.status, attempts, batch });
}

/** The facts that are known. */
export const defined = <Facts extends object>(facts: Facts): Partial<Facts> =>
	omitBy<Facts>(facts, isUndefined);

const NOT_SENT = 'Not sent: too many documents before it failed for the same reason';
const MAY_BE_STORED = 'It is not known whether this document is stored';

const FLAWS: Partial<Record<ProcessingEnd['state'], string>> = {
	error: 'could not be processed',
	cancel: 'was stored, but its processing was cancelled',
	none: 'is stored, but not being processed',
};

const STUCK =
	'The document is stored, but an earlier run has started its processing and the server shows no progress';

/**
 * Why a stored document cannot be found; `undefined` where it can, where it is still in process, or where that is not
 * known.
 */
export function processingFlaw(end: ProcessingEnd): string | undefined {
	const { state, processMsg, failure, hasNoRoute, isStuck } = end;
	if (hasNoRoute) return undefined;
	if (isStuck) return STUCK;
	if (failure)
		return `The document is stored, but its processing could not be started. ${failureMessage(failure)}`;
	const flaw = FLAWS[state];
	return flaw && `The document ${flaw}${processMsg ? `: ${processMsg}` : ''}`;
}

/**
 * The output item of a stored document with the state of its processing; an error item if it has a flaw.
 *
 * @param flaw why it cannot be found
 */
export function processedItem(
	{ item, outcome }: Origin,
	{ json }: INodeExecutionData,
	end: ProcessingEnd,
	flaw: string | undefined,
): INodeExecutionData {
	const facts = processingFacts(end);
	if (flaw !== undefined) {
		const { id, name, key } = json;
		const error = item.operationError(flaw, processingAdvice(flaw, String(name)));
		return item.failed(error, { name, outcome, ...facts, key, id });
	}
	// Without Simplify, the output is the server's record.
	return item.output({ ...json, ...facts, ...(json.outcome && { outcome }) });
}

const processingFacts = ({ state, processMsg }: ProcessingEnd): IDataObject =>
	defined({ processing: state, processMsg });

/** The output item of a document that a later one of the run replaced; on the error output, if there is one. */
export function replacedItem({ item }: Origin, { json }: INodeExecutionData): INodeExecutionData {
	const { name, key, id } = json;
	const facts = defined({ name, outcome: 'replaced', key, id });
	if (item.context.getNode().onError !== 'continueErrorOutput') return item.output(facts);
	const what = key === undefined ? 'ID' : `key (${quoted(key)})`;
	const error = item.operationError(
		`A later document of this run came with the same ${what} and replaced this one`,
		'Give each document a key of its own, such as its path or the ID of its row.',
	);
	return item.failed(error, facts);
}

/** The server's reason when a workspace's key stores the first document of a knowledgebase (recorded). */
const FIRST_DOCUMENT_DENIED = /^access denied to workspace/i;

/**
 * The error of a request for documents of a knowledgebase.
 *
 * @param named other IDs in the request
 */
export function knowledgebaseError(
	item: Item,
	failure: Failure,
	named: NamedId[] = [],
): NodeApiError {
	// Uploads have no knowledgebase in their path.
	if (!failure.path.includes(item.id('knowledgebaseId'))) return item.apiError(failure);
	const first = ({ reason = '' }: Failure) =>
		FIRST_DOCUMENT_DENIED.test(reason) ? FIRST_DOCUMENT : undefined;
	return item.apiError(failure, { ids: named, statusHints: { 403: first } });
}

/** The error of a document that is not stored, or may not be stored. */
export function storingError(
	{ record: { storageFileId }, origin: { item, isUploaded } }: ReadyDocument<Origin>,
	failure: Failure,
): NodeApiError {
	const hasOwnFile = storageFileId && !isUploaded;
	const file = hasOwnFile ? [{ subject: '"Storage File ID"', id: storageFileId }] : [];
	return knowledgebaseError(item, failure, file);
}

const FIRST_DOCUMENT =
	"The key of a workspace cannot store the first document of a new knowledgebase, as that sets the structure of the knowledgebase. Store one document with a user's or an assistant's key; after that, this key works.";

/** Reasons of servers that could not process a document (recorded), and what to do. */
const ADVICE: Array<[pattern: RegExp, advice: string]> = [
	[
		/embedding model not set/i,
		'The knowledgebase has no embedding model. Give it one with Knowledgebase: Create or Update, field Embedding Model: the ID of a copilot that offers it stands in the address of its page on the server.',
	],
	[
		/Symbol\.asyncIterator/,
		`Servers read files and nothing else, and this document has none. Send its text ${WITH_A_FILE}.`,
	],
	[
		/unable to resolve a readable file/i,
		`The server looks for File Path on its own disk. Leave it out, and send the file with "Documents From" set to ${SOURCES.files.name}.`,
	],
	[
		/EISDIR/,
		'The server cannot read sheets. A CSV is read as text with Type set to txt and MIME Type to text/plain; turn an Excel file into text first, e.g. with Extract From File.',
	],
	[
		/server shows no progress/i,
		'With "When Run Again" set to "Send New and Changed", the next run sends it again. If that does not help, process it by hand in the list of documents on the server, or store it under another key or ID.',
	],
	[
		/did not begin, though/i,
		'The next run sends it again. Look up on the server whether it is working, and whether its queue is.',
	],
	[
		/no password given/i,
		'The server cannot open a locked file. Remove its password, then run it again.',
	],
	[
		/ECONNREFUSED|ENOTFOUND|ETIMEDOUT|failed to get/i,
		`The server could not fetch the file from its address, which must be reachable from there and without a token. Upload it instead, with "Documents From" set to ${SOURCES.files.name}.`,
	],
];

/** What to do about a document that is stored and not found, as far as the reason tells. */
export function processingAdvice(reason: string, name = ''): string {
	const state = 'It is stored, and assistants do not find it.';
	const advice = ADVICE.find(([pattern]) => pattern.test(reason))?.[1];
	if (advice) return `${state} ${advice}`;
	if (!/could not be processed/i.test(reason)) return state;
	const [extension] = /\.[a-z]\w*$/i.exec(name) ?? [];
	return extension && !documentExtension(name)
		? `${state} Servers may not read ${extension} files: save it as .docx, .xlsx, .pptx, .pdf or text, and run it again.`
		: `${state} Replace the file, as it may be damaged or empty, and run it again.`;
}

/**
 * Adds a readable reason where the server's is empty: it answers changed chunks with an empty object (service
 * behaviour, E3).
 */
export function withReadableReason<Source>(
	result: DocumentOutcome<Source>,
): DocumentOutcome<Source> {
	if (!('failure' in result)) return result;
	const { failure, document } = result;
	// Without a reason in the answer, the text of its status is the reason.
	const { status, reason = 'Bad Request' } = failure;
	const isChanged = status === 400 && reason === 'Bad Request' && document.record.chunks;
	return isChanged ? { ...result, failure: { ...failure, reason: CHANGED_CHUNKS } } : result;
}

const CHANGED_CHUNKS = `it does not take a document again whose chunks changed. Send its text ${WITH_A_FILE}`;
