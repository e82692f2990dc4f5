import find from 'lodash/find';
import type { IDataObject, INodeExecutionData, NodeApiError } from 'n8n-workflow';

import { rawOutput, type AnswerOutput } from '../../../execution/outputFor';
import { quoted } from '../../../execution/inputIssues';
import type { NamedId } from '../../../execution/ids';
import type { Item } from '../../../execution/item';
import { documentExtension } from '../../../execution/mimeTypes';
import { asJson, type ItemError } from '../../../execution/outputs';
import type { ReadyDocument } from '../../../ingest/readyDocument';
import type { PlannedAction } from '../../../ingest/planDocuments';
import { processingFlaw, type ProcessingEnd } from '../../../ingest/processingStatus';
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

/** A document of the run: its item, and what is known of it. Its content is not kept. */
export interface Origin {
	item: Item;
	name?: string;
	key?: string;
	id?: string;
	outcome?: OutcomeName;
	/** Whether it is kept to the end of the run. */
	isTracked?: boolean;
	/** Whether its file is uploaded before it is sent. */
	isUploaded?: boolean;
	/** Whether U+0000 was left out of its record. */
	hadNul?: boolean;
	/** Whether a later document of the run has the same key or ID. */
	isReplaced?: boolean;
	/** The file that its record names, which an earlier run or somebody else has uploaded. */
	storageFileId?: string | null;
	/** The request that carried it. */
	sent?: { status?: number; attempts: number; batch: number };
	/** The server's record, as far as it is output. */
	record?: IDataObject;
	/** Why it is not stored, or may not be: of the server, or of n8n where it could not be read. */
	failure?: Failure;
	error?: ItemError;
	reason?: string;
	/** The last known state of its processing. */
	end?: ProcessingEnd;
	/** What the next run would do with it. */
	plan?: PlannedAction;
}

/** The facts that are known. */
export function defined<Facts extends object>(facts: Facts): Partial<Facts> {
	// Written for each document, and several times as fast as omitBy.
	const known: Partial<Facts> = {};
	for (const key in facts) if (facts[key] !== undefined) known[key] = facts[key];
	return known;
}

/** The output item of a document; an error item if it is not stored, or cannot be found. */
export function documentItem(origin: Origin, output: AnswerOutput): INodeExecutionData[] {
	const { item, key, outcome, plan, sent, end, record } = origin;
	const { name = origin.name, id = origin.id } = record ?? {};
	const facts = defined({ name, outcome, key, id });
	if (plan) return [item.output(defined({ name, key, id, plan }))];
	if (!outcome) return [];
	const error = errorOf(origin);
	if (error) {
		if (outcome === 'unknown') error.message = `${error.message}. ${MAY_BE_STORED}`;
		return [item.failed(error, { ...facts, ...sent })];
	}
	if (outcome === 'replaced') return [replacedItem(item, facts)];
	const { state, processMsg } = end ?? {};
	const processing = defined({ processing: state, processMsg });
	const flaw = end && processingFlaw(end);
	if (flaw !== undefined) {
		const failed = item.operationError(flaw, processingAdvice(flaw, origin.name));
		return [item.failed(failed, { name, outcome, ...processing, key, id })];
	}
	if (outcome === 'unchanged') return [item.output({ ...facts, ...processing })];
	if (!output.simplify)
		return [item.output({ ...rawOutput(output, asJson(record)), ...processing })];
	const stored = defined({ name, outcome, processing: 'none', key, id });
	return [item.output({ ...stored, ...sent, ...processing })];
}

const NOT_SENT = 'Not sent: too many documents before it failed for the same reason';
const MAY_BE_STORED = 'It is not known whether this document is stored';

/** The error of a document that is not stored, or may not be. */
export function errorOf(origin: Origin): ItemError | undefined {
	const { item, outcome, error, failure, reason, storageFileId } = origin;
	if (error) return error;
	const named = storageFileId ? [{ field: '"Storage File ID"', id: storageFileId }] : [];
	if (failure) return knowledgebaseError(item, failure, named);
	if (outcome !== 'notSent') return undefined;
	const hint = `The hints of the node say why. With 0 in "${item.labelOf('options.stopAfterFailures')}" it sends all the same.`;
	return item.operationError(reason ?? NOT_SENT, reason ? undefined : hint);
}

/** The output item of a document that a later one of the run replaced; on the error output, if there is one. */
function replacedItem(item: Item, facts: IDataObject): INodeExecutionData {
	if (item.context.getNode().onError !== 'continueErrorOutput') return item.output(facts);
	const what = facts.key === undefined ? 'ID' : `key (${quoted(facts.key)})`;
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

const FIRST_DOCUMENT =
	"The key of a workspace cannot store the first document of a new knowledgebase, as that sets the structure of the knowledgebase. Store one document with a user's or an assistant's key; after that, this key works.";

/** Patterns of reasons why servers could not process a document (recorded), and what to do. */
const ADVICE: Record<string, string> = {
	'embedding model not set':
		'The knowledgebase has no embedding model. Give it one with Knowledgebase: Create or Update, field Embedding Model: the ID of a copilot that offers it stands in the address of its page on the server.',
	'Symbol\\.asyncIterator': `Servers read files and nothing else, and this document has none. Send its text ${WITH_A_FILE}.`,
	'unable to resolve a readable file': `The server looks for File Path on its own disk. Leave it out, and send the file with "Documents From" set to ${SOURCES.files.name}.`,
	EISDIR:
		'The server cannot read sheets. A CSV is read as text with Type set to txt and MIME Type to text/plain; turn an Excel file into text first, e.g. with Extract From File.',
	'server shows no progress':
		'With "When Run Again" set to "Send New and Changed", the next run sends it again. If that does not help, process it by hand in the list of documents on the server, or store it under another key or ID.',
	'did not begin, though':
		'The next run sends it again. Look up on the server whether it is working, and whether its queue is.',
	'no password given':
		'The server cannot open a locked file. Remove its password, then run it again.',
	'ECONNREFUSED|ENOTFOUND|ETIMEDOUT|failed to get': `The server could not fetch the file from its address, which must be reachable from there and without a token. Upload it instead, with "Documents From" set to ${SOURCES.files.name}.`,
};

/** What to do about a document that is stored and not found, as far as the reason tells. */
export function processingAdvice(reason: string, name = ''): string {
	const state = 'It is stored, and assistants do not find it.';
	const advice = find(ADVICE, (_, pattern) => new RegExp(pattern, 'i').test(reason));
	if (advice) return `${state} ${advice}`;
	if (!/could not be processed/i.test(reason)) return state;
	const [extension] = /\.[a-z]\w*$/i.exec(name) ?? [];
	return extension && !documentExtension(name)
		? `${state} Servers may not read ${extension} files: save it as .docx, .xlsx, .pptx, .pdf or text, and run it again.`
		: `${state} Replace the file, as it may be damaged or empty, and run it again.`;
}

/** The failure of a document, with a readable reason where the server's says nothing to the user. */
export function readableFailure(
	{ file, record }: ReadyDocument<unknown>,
	failure: Failure,
): Failure {
	const { status, missing, reason = 'Bad Request' } = failure;
	if (file && missing === 'route') return { ...failure, reason: NO_UPLOADS };
	// It answers changed chunks with an empty object (recorded): the text of the status is the reason then.
	const isChanged = status === 400 && reason === 'Bad Request' && record.chunks;
	return isChanged ? { ...failure, reason: CHANGED_CHUNKS } : failure;
}

const CHANGED_CHUNKS = `it does not take a document again whose chunks changed. Send its text ${WITH_A_FILE}`;
const NO_UPLOADS = `this server takes no uploads. Set "Documents From" to ${SOURCES.fields.name}, and send what it can read`;
