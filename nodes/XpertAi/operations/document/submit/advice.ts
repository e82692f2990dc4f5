import type { NodeApiError } from 'n8n-workflow';

import { namedId } from '../../../execution/ids';
import type { NamedId } from '../../../execution/ids';
import type { Item } from '../../../execution/item';
import type { ReadyDocument } from '../../../ingest/batches';
import type { DocumentOutcome } from '../../../ingest/storing';
import type { Failure } from '../../../transport/failure';
import { SOURCES, WITH_A_FILE } from './sources';
import type { Origin } from './sources/identity';

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
	[/could not be processed/i, 'Replace the file, as it may be damaged or empty, and run it again.'],
];

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
	const file = hasOwnFile ? [namedId('storageFileId', '"Storage File ID"', storageFileId)] : [];
	return knowledgebaseError(item, failure, file);
}

const FIRST_DOCUMENT =
	"The key of a workspace cannot store the first document of a new knowledgebase, as that sets the structure of the knowledgebase. Store one document with a user's or an assistant's key; after that, this key works.";

/** What to do about a document that is stored and not found, as far as the reason tells. */
export function adviceFor(reason: string): string {
	const advice = ADVICE.find(([pattern]) => pattern.test(reason))?.[1];
	const state = 'It is stored, and assistants do not find it.';
	return advice ? `${state} ${advice}` : state;
}

/**
 * Adds a readable reason where the server's is empty: it answers changed chunks with an empty object (service
 * behaviour, E3).
 */
export function withReadableReason<Origin>(
	result: DocumentOutcome<Origin>,
): DocumentOutcome<Origin> {
	if (!('failure' in result)) return result;
	const { failure, document } = result;
	// Without a reason in the answer, the text of its status is the reason.
	const { status, reason = 'Bad Request' } = failure;
	const isChanged = status === 400 && reason === 'Bad Request' && document.record.chunks;
	return isChanged ? { ...result, failure: { ...failure, reason: CHANGED_CHUNKS } } : result;
}

const CHANGED_CHUNKS = `it does not take a document again whose chunks changed. Send its text ${WITH_A_FILE}`;
