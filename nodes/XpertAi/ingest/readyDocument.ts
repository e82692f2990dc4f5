import type { DocumentRecord } from '../payloads/document';
import type { Failure } from '../transport/failure';
import type { UploadFile } from '../transport/multipart';
import type { ProcessingEnd, ProcessingStatus } from './processingStatus';

/** The file of a document, as its source reads it. */
export interface SourceFile extends UploadFile {
	/** What the record says of it, if its content shows a format that its name does not. */
	fields?: Pick<DocumentRecord, 'name' | 'type' | 'mimeType'>;
	/** Whether U+0000 was left out of the document. */
	hadNul?: boolean;
}

/** A document that is ready to be sent. Its content is in `record` alone. */
export interface ReadyDocument<Origin> {
	record: DocumentRecord;
	/** The record as JSON, as it goes into the body of a batch. Made once, then weighed, hashed and sent. */
	json: string;
	/** Bytes of `json` in UTF-8. */
	bytes: number;
	/** The server keeps the document under this ID; sending it again replaces the document. */
	id: string;
	/** Whether no other run can recognize the document by its ID: the ID was made for this run or is no UUID. */
	isNew?: boolean;
	/** The key that the ID is derived from, if it is derived. */
	key?: string;
	/**
	 * A hash of the record and the file, its bytes as characters, to compare with earlier runs. Only set where runs are
	 * remembered.
	 */
	contentHash?: string;
	/** The file of the document. It is uploaded first: a document is stored only after its file. */
	file?: () => SourceFile | Promise<SourceFile>;
	/** Whether this run has uploaded its file, which the server therefore has. */
	isUploaded?: boolean;
	/** Where the document came from; its outcome is reported there. */
	origin: Origin;
}

/** A record as JSON, and its size in bytes. */
export function serialize(record: DocumentRecord): Pick<ReadyDocument<unknown>, 'json' | 'bytes'> {
	const json = JSON.stringify(record);
	return { json, bytes: Buffer.byteLength(json) };
}

/** The request that carried a document. */
interface Carried {
	/** Number of the batch, counted from 1; 0 where it was in none. */
	batch: number;
	/** Requests that carried the document. */
	attempts: number;
}

/**
 * The outcome of a document: each one has exactly one, unless the execution is stopped. `unknown`: no answer says
 * whether the server stored it. `notSent`: the server was not reached, or sending had stopped before its turn.
 * `unchanged`: an earlier run stored it with the same content; with the status of its processing, if that was fetched.
 */
export type DocumentFact<Origin> = { document: ReadyDocument<Origin> } & (
	| ({ outcome: 'stored'; status: number; record: unknown } & Carried)
	| ({ outcome: 'rejected' | 'unknown' | 'notSent'; failure: Failure } & Carried)
	| { outcome: 'notSent'; reason?: string; failure?: undefined }
	| { outcome: 'unchanged'; status?: ProcessingStatus }
	| { outcome: 'unreadable'; error: unknown }
);

/** The last state of a stored document's processing. */
export interface ProcessedFact {
	outcome: 'processed';
	id: string;
	end: ProcessingEnd;
}

/** What happened: the life of a document is a row of facts, each plain data. */
export type Fact<Origin> =
	| DocumentFact<Origin>
	| ProcessedFact
	/** `hadNul`: U+0000 was left out of its file. */
	| { outcome: 'uploaded'; hadNul?: boolean }
	/** Counts of requests that stored documents. */
	| { outcome: 'sent'; counts: Record<'attempts' | 'batches' | 'retries', number> };
