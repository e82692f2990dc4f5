import type { Failure } from '../transport/failure';
import type { ReadyDocument } from './readyDocument';
import type { ProcessingEnd, ProcessingStatus } from './processingStatus';

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

/** Counts of requests that stored documents. `bytes`: of all bodies that were sent. */
export interface RequestCounts {
	batches: number;
	bytes: number;
	requests: number;
	retries: number;
	splits: number;
}

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
	| { outcome: 'sent'; counts: RequestCounts };
