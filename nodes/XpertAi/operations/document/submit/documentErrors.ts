import { find } from 'lodash';

import type { ItemError, NamedId } from '../../../execution/apiError';
import { documentExtension } from '../../../execution/mimeTypes';
import type { Item } from '../../../execution/item';
import type { ReadyDocument } from '../../../ingest/readyDocuments';
import { unfindableReason } from '../../../ingest/statuses';
import { type Failure, isTooLarge, mayHaveStoppedPartway } from '../../../transport/failure';
import { DOCUMENTS_FROM, HOW_TO_SEND_A_TEXT } from './fields';
import type { DocumentReport } from './documentReport';

/** Replaces the reason of failures that the server explains badly. */
export function withPlainReason(
	{ readFile, record }: ReadyDocument<unknown>,
	failure: Failure,
): Failure {
	const { status, missing, reason = 'Bad Request' } = failure;
	if (readFile && missing === 'route') return { ...failure, reason: NO_UPLOAD_ROUTE_REASON };
	// If the chunks of a stored document changed, servers answer only with the status text `Bad Request`.
	const isChanged = status === 400 && reason === 'Bad Request' && record.chunks;
	return isChanged ? { ...failure, reason: CHANGED_CHUNKS_REASON } : failure;
}

const CHANGED_CHUNKS_REASON = `it does not take a document again whose chunks changed. Send its text ${HOW_TO_SEND_A_TEXT}`;

const NO_UPLOAD_ROUTE_REASON = `it has no route for uploads. If the Base URL of the credential is right, set "Documents From" to ${DOCUMENTS_FROM.fields.name}, and send what the server can read`;

/** Matches the reason of a server that does not let the key of a workspace store a document. Recorded from a server. */
const WORKSPACE_DENIED_PATTERN = /^access denied to workspace/i;

const WORKSPACE_DENIED_ADVICE =
	"Either this is the first document of a new knowledgebase, which the key of a workspace cannot store: store one with a user's or an assistant's key; after that, this key works. Or the knowledgebase belongs to another workspace: check it, and the key.";

/**
 * Returns the error for a failed request about the documents of a knowledgebase.
 *
 * @param ids other IDs in the request
 */
export function documentsError(item: Item, failure: Failure, ids: NamedId[] = []): ItemError {
	const { path, reason = '' } = failure;
	// The advice is about storing (`/bulk`). An upload may fail with the same reason, but it has no knowledgebase, so the
	// advice would be wrong.
	const isFirst = path.endsWith('/bulk') && WORKSPACE_DENIED_PATTERN.test(reason);
	return item.apiError(failure, {
		ids,
		statusAdvice: isFirst ? { 403: WORKSPACE_DENIED_ADVICE } : {},
	});
}

/**
 * Whether a failure says nothing about the content of its document, so that other documents would fail, too.
 *
 * @param fileId the ID of the file that the document refers to. If the failure is about a missing record, this record
 * may be the file. Without `fileId`, it is the knowledgebase, which all documents need.
 */
export function affectsAll(failure: Failure, fileId?: string | null): boolean {
	if (failure.missing === 'record' && !fileId) return true;
	return !mayHaveStoppedPartway(failure) && !isTooLarge(failure);
}

/** Advice for documents whose processing failed. Each key is a regular expression that matches the failure reason. */
const ADVICE_BY_REASON_PATTERN: Record<string, string> = {
	'embedding model not set|copilot not set':
		'The knowledgebase has no embedding model that the server can use. Give it one with Knowledgebase: Create or Update, field Embedding Model. The Copilot ID stands on the server under Settings, AI Copilot, at the icon of the provider.',
	'Symbol\\.asyncIterator': `Servers read files and nothing else, and this document has none. For a file of records, fill in "Text Field". Send other texts ${HOW_TO_SEND_A_TEXT}.`,
	'unable to resolve a readable file': `The server looks for File Path on its own disk. Leave it out, and send the file with "Documents From" set to ${DOCUMENTS_FROM.files.name}.`,
	EISDIR:
		'The server cannot read sheets. A CSV is read as text with Type set to txt and MIME Type to text/plain; turn an Excel file into text first.',
	'server shows no progress':
		'With "When Run Again" set to "Send New and Changed", the next run sends it again. If that does not help, process it by hand in the list of documents on the server, or store it under another key or ID.',
	'did not begin, though':
		'The next run sends it again. Look up on the server whether it is working, and whether its queue is.',
	'could not be processed: .*(api key|quota|rate limit|billing)|could not be processed: (401|429) ':
		'The provider of the embedding model refused. Correct its key or its quota on the server under Settings, AI Copilot, then run it again.',
	'no password given':
		'The server cannot open a locked file. Remove its password, then run it again.',
	'ECONNREFUSED|ENOTFOUND|ETIMEDOUT|failed to get': `The server could not fetch the file from its address. Upload it instead, with "Documents From" set to ${DOCUMENTS_FROM.files.name}.`,
};

/**
 * Says that assistants cannot find a stored document. If the cause of the failure is known, adds advice. If the server
 * could not process the document for another cause, adds general advice.
 */
export function processingAdvice(reason: string, name = ''): string {
	const state = 'It is stored, and assistants do not find it.';
	const advice = find(ADVICE_BY_REASON_PATTERN, (_, pattern) =>
		new RegExp(pattern, 'i').test(reason),
	);
	if (advice) return `${state} ${advice}`;
	if (!/could not be processed/i.test(reason)) return state;
	const [extension] = /\.[a-z]\w*$/i.exec(name) ?? [];
	return extension && !documentExtension(name)
		? `${state} Servers may not read ${extension} files: save it as .docx, .xlsx, .pptx, .pdf or text, and run it again.`
		: `${state} Replace the file, as it may be damaged, empty or locked, and run it again.`;
}

/**
 * The error to report for a document; undefined if it did not fail. For the outcome `unknown`, `documentOutputItems` adds
 * `MAY_BE_STORED_TEXT` to the message, and `stopError` adds `(stored or not)` to the name.
 */
export function errorToReport(report: DocumentReport): ItemError | undefined {
	const { item, name, outcome, error, notSentReason, lastProcessingState } = report;
	if (error) return error;
	if (outcome === 'notSent') {
		const advice = `The hints of the node say why. With 0 in "${item.labelOf('tuning.stopAfterFailures')}" it sends all the same.`;
		return item.operationError(
			notSentReason ?? NOT_SENT_MESSAGE,
			notSentReason ? undefined : advice,
		);
	}
	// A replaced document gets a normal output item. Only a node with an error output sends it there as an error.
	if (outcome === 'replaced')
		return item.context.getNode().onError === 'continueErrorOutput'
			? item.operationError(REPLACED_MESSAGE, REPLACED_ADVICE)
			: undefined;
	const notFound = lastProcessingState && unfindableReason(lastProcessingState);
	return notFound ? item.operationError(notFound, processingAdvice(notFound, name)) : undefined;
}

const NOT_SENT_MESSAGE = 'Not sent: too many documents before it failed for the same reason';

const REPLACED_MESSAGE =
	'A later document of this run came with the same key or ID and replaced this one';

const REPLACED_ADVICE =
	'Give each document a key of its own, such as its path or the ID of its row.';
