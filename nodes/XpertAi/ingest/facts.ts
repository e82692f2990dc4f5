import type { Hash } from 'crypto';

import type { DocumentRecord } from '../payloads/document';
import type { Failure } from '../transport/failure';
import type { UploadFile } from '../transport/multipart';
import type { LastState, ProcessingStatus } from './statuses';

/** The file of a document, as read from the source. */
export interface SourceFile extends UploadFile {
	/** The record fields that depend on the format of the content. */
	recordFields?: Pick<DocumentRecord, 'name' | 'type' | 'mimeType'>;
	/** Whether the node removed U+0000 from the content or from the record. */
	hadNul?: boolean;
	/** A copy of the hash given to `ReadyDocument.file`, updated with the content. Unset if `content` is a buffer. */
	digest?: Hash;
}

export interface ReadyDocument<Report> {
	/** The record. Without a file, it lacks the metadata and keeps only the IDs of pages and chunks; `json` has all. */
	record: DocumentRecord;
	/** The record as JSON text. The node measures, hashes and sends this text. */
	json: string;
	/** Size of `json` in bytes (UTF-8). */
	bytes: number;
	/** The ID of the document. The server replaces a stored document that has the same ID. */
	id: string;
	/** Whether later runs cannot recognize the document. True if its ID is random or is not a UUID. */
	lacksStableId?: boolean;
	/** The key from which the ID is derived, if any. */
	key?: string;
	/**
	 * The hash of the content or of the version, as a binary string. Begins with one of `MARKS`. Runs compare hashes to find
	 * changed documents.
	 */
	contentHash?: string;
	/**
	 * Reads the file to upload. Unset if the document has no file. A large stored file is opened a second time when it is
	 * sent.
	 *
	 * @param digest a hash for the content (see `SourceFile.digest`). With it, the content is not kept, to save memory.
	 */
	file?: (digest?: Hash) => SourceFile | Promise<SourceFile>;
	/** Whether this run has uploaded the file. */
	isUploaded?: boolean;
	/** The input item of the document, and data for reports. */
	report: Report;
}

/** Documents in groups, because each step of an async iterable takes time. */
export type Documents<Report, One = ReadyDocument<Report>> = Iterable<One[]> | AsyncIterable<One[]>;

/** Returns a record as JSON, with the size in bytes. */
export function serialize(record: DocumentRecord): Pick<ReadyDocument<unknown>, 'json' | 'bytes'> {
	const json = JSON.stringify(record);
	return { json, bytes: Buffer.byteLength(json) };
}

interface SendInfo {
	/** Number of the batch, counted from 1; 0 if the document was in no batch. */
	batch: number;
	/** How often the document was sent. If the upload of its file failed, how often the file was sent. */
	attempts: number;
}

/**
 * The outcome of a document. Each document gets one outcome. If the execution is stopped, a document may get none.
 *
 * `stored`: `status` is the HTTP status of the answer, `record` is the record in it.
 * `rejected`: the server answered with a failure.
 * `unknown`: the server may or may not have stored the document.
 * `notSent`: the document was not sent, or did not reach the server.
 * `unchanged`: an earlier run stored the same content. `status`: the processing status, if this run fetched the status.
 * Always unset if documents need not be processed (see `CompareOptions.mustBeProcessed`).
 * `unreadable`: the document or its file could not be read.
 */
export type DocumentFact<Report> = { document: ReadyDocument<Report> } & (
	| ({ outcome: 'stored'; status: number; record: unknown } & SendInfo)
	| ({ outcome: 'rejected' | 'unknown' | 'notSent'; failure: Failure } & SendInfo)
	| { outcome: 'notSent'; reason?: string; failure?: undefined }
	| { outcome: 'unchanged'; status?: ProcessingStatus }
	| { outcome: 'unreadable'; error: unknown }
);

/** The last known state of the processing of a stored document. The processing may still be running. */
export interface ProcessingFact {
	outcome: 'processed';
	id: string;
	lastState: LastState;
}

/** A fact about a document or a request. A document may have several facts, e.g. `stored`, then `processed`. */
export type Fact<Report> =
	| DocumentFact<Report>
	| ProcessingFact
	/** `hadNul`: the node removed U+0000 from the file or from its record. */
	| { outcome: 'uploaded'; hadNul?: boolean }
	/** Counts of one call that stores documents. `batches`: 1 for a new batch, 0 for a part of a split batch. */
	| { outcome: 'sent'; counts: Record<'attempts' | 'batches' | 'retries', number> };
