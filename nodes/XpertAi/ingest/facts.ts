import type { Failure } from '../transport/failure';
import type { LastProcessingState, StatusRecord } from './statuses';
import type { ReadyDocument } from './readyDocuments';

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
	| { outcome: 'unchanged'; status?: StatusRecord }
	| { outcome: 'unreadable'; error: unknown }
);

/** The last known state of the processing of a stored document. The processing may still be running. */
export interface ProcessingFact {
	outcome: 'processed';
	id: string;
	lastProcessingState: LastProcessingState;
}

/** A fact about a document or a request. A document may have several facts, e.g. `stored`, then `processed`. */
export type Fact<Report> =
	| DocumentFact<Report>
	| ProcessingFact
	/** `hadNul`: the node removed U+0000 from the file or from its record. */
	| { outcome: 'uploaded'; hadNul?: boolean }
	/** Counts of one call that stores documents. `batches`: 1 for a new batch, 0 for a part of a split batch. */
	| { outcome: 'sent'; counts: Record<'attempts' | 'batches' | 'retries', number> };
