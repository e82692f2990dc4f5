import chunk from 'lodash/chunk';

import { z } from 'zod';

import type { Clock } from '../transport/clock';
import type { Failure } from '../transport/failure';
import {
	certainlyNotDone,
	isCutOff,
	isOverdue,
	isRejection,
	isTooLarge,
	mayBePartlyDone,
} from '../transport/classifyFailure';
import type { Send } from '../transport/request';
import { OutageBudget, call } from '../transport/call';
import type { Call, Result, RetryLimits } from '../transport/call';
import { answeredRecords, recordId, storingFlaw } from './answeredRecords';
import { batchBody, batchBytes, batches } from './batches';
import type { BatchLimits, Documents, ReadyDocument } from './batches';
import type { BatchEnd, JournaledBatch } from './memory';

/** `unknown`: no answer says whether the server stored it. `notSent`: sending had stopped before its turn. */
type Ending =
	| { outcome: 'stored'; status: number; record: unknown }
	| { outcome: 'rejected' | 'unknown'; failure: Failure }
	| { outcome: 'notSent'; reason?: string };

/** The outcome of one document. */
export type DocumentOutcome<Origin> = Ending & {
	document: ReadyDocument<Origin>;
	/** Number of the batch, counted from 1; 0 where it was in none. */
	batch: number;
	/** Requests that carried the document. */
	attempts: number;
};

/** The dependencies of storing. It knows neither n8n nor HTTP. */
export interface Storing<Origin> {
	documents: Documents<Origin>;
	batchLimits: BatchLimits;
	retryLimits: RetryLimits;
	/** Requests at once. */
	concurrency: number;
	send: Send;
	/**
	 * Called before each batch is sent.
	 *
	 * @returns the rows of the journal that go around the documents, or why the batch must not be sent
	 */
	journal?: (batch: Batch<Origin>) => Promise<JournaledBatch | { failure: Failure } | undefined>;
	/** The request (E3) that carries a batch. */
	request: (body: string) => Omit<Call<unknown>, 'schema'>;
	/** Called once for each document, when its batch ends. */
	onOutcome: (outcome: DocumentOutcome<Origin>) => void;
	/** Called before each batch: whether it may be sent. */
	maySend: () => boolean;
	clock: Clock;
	signal?: AbortSignal;
}

/** The counts before anything is sent. `bytes`: of all bodies that were sent. */
export const noRequests = () => ({ batches: 0, bytes: 0, requests: 0, retries: 0, splits: 0 });

/** Counts of the requests that stored documents. */
export type StoringCounts = ReturnType<typeof noRequests>;

/**
 * Stores documents in batches, with `concurrency` requests at once. `onOutcome` is called exactly once for each
 * document, unless the execution is stopped.
 *
 * @throws what the source of the documents throws
 */
export async function storeDocuments<Origin>(storing: Storing<Origin>): Promise<StoringCounts> {
	return await new Storer(storing).run();
}

class Storer<Origin> {
	private readonly counts = noRequests();
	private readonly outageBudget: OutageBudget;

	constructor(private readonly storing: Storing<Origin>) {
		this.outageBudget = new OutageBudget(storing.retryLimits);
	}

	async run(): Promise<StoringCounts> {
		const { documents, batchLimits, clock, concurrency } = this.storing;
		const source = batches(documents, batchLimits);
		const order = new IdOrder();
		const work = async () => {
			let next: Promise<IteratorResult<Batch<Origin>>> | undefined;
			while (!this.storing.signal?.aborted) {
				const { done, value: batch } = await (next ?? source.next());
				if (done) return;
				const ids = batch.map(({ id }) => id.toLowerCase());
				const settled = order.after(ids, async () => await this.storeBatch(batch));
				// Makes the next batch while the server works on this one; several workers do so anyway.
				if (concurrency === 1) {
					const headStart = clock.sleep(SEND_HEAD_START_MS);
					next = Promise.race([headStart, settled]).then(() => source.next());
					// If this batch fails, the failure of the next one must not go unhandled.
					next.catch(() => undefined);
				}
				await settled;
			}
		};
		const ends = await Promise.allSettled(Array.from({ length: concurrency }, work));
		// Closes the source, which may not have been read to its end.
		await source.return(undefined);
		const failed = ends.find((end) => end.status === 'rejected');
		if (failed) throw failed.reason;
		return this.counts;
	}

	private async storeBatch(batch: Batch<Origin>): Promise<void> {
		// Another batch may have failed since this one was read.
		const maySend = this.storing.maySend();
		const number = maySend ? ++this.counts.batches : 0;
		const part = { batch, number, attempts: 0, mayBeDone: false, partlyDone: [] };
		if (maySend) await this.settle(part);
		else for (const document of batch) this.emit(part, document, { outcome: 'notSent' });
	}

	private emit(part: Attempted<Origin>, document: ReadyDocument<Origin>, ending: Ending): void {
		const { number, attempts } = part;
		this.storing.onOutcome({ document, batch: number, attempts, ...ending });
	}

	/** Sends a batch, in halves if need be, until each of its documents has an outcome. */
	private async settle(attempted: Attempted<Origin>): Promise<void> {
		const { batch, attempts } = attempted;
		const journaled = await this.storing.journal?.(batch);
		if (journaled && 'failure' in journaled) return this.reportFailed(attempted, journaled.failure);
		const result = await this.send(batch, journaled);
		journaled?.onEnded(endOf(result), result.mayBeDone);
		this.counts.requests += result.attempts;
		this.counts.retries += result.attempts - 1;
		this.counts.bytes += batchBytes(batch) * result.attempts;
		const updated = { ...attempted, attempts: attempts + result.attempts };
		updated.mayBeDone ||= result.mayBeDone;
		if (result.ok) {
			const { status } = result;
			for (const [at, document] of batch.entries())
				this.emit(updated, document, { outcome: 'stored', status, record: result.records[at] });
			return;
		}
		const { failure } = result;
		if (result.isOverload || (batch.length > 1 && maySplit(attempted, failure))) {
			this.counts.splits += 1;
			if (mayBePartlyDone(failure))
				updated.partlyDone = [...updated.partlyDone, { failure, ended: false }];
			const halves = chunk(batch, Math.ceil(batch.length / 2));
			for (const half of halves) await this.settle({ ...updated, batch: half });
			return;
		}
		this.reportFailed(updated, failure, result.records);
	}

	/**
	 * Sends a batch with the retry policy; only once if the outage budget is spent.
	 *
	 * @returns also whether the batch overloads the server and may be sent in halves, and the records that the last
	 * answer shows
	 */
	private async send(
		batch: Batch<Origin>,
		journaled?: JournaledBatch,
	): Promise<Result<unknown> & { isOverload: boolean; records: unknown[] }> {
		const { send, request, clock, signal } = this.storing;
		const { outageBudget } = this;
		const canHalve = batch.length > 1 && this.outageBudget.isLeft;
		const isOverloadedBy = (failure: Failure, attempts: number) =>
			canHalve && attempts >= TRIES_BEFORE_HALVING && overloads(batch, failure);
		let records: unknown[] = [];
		const schema = z.unknown().superRefine((answer, { addIssue }) => {
			const documentAnswer = withoutRecords(answer, journaled?.ids);
			records = answeredRecords(batch, documentAnswer);
			const message = storingFlaw(documentAnswer, records);
			if (message) addIssue({ code: 'custom', message });
		});
		const result = await call(
			{ send, clock, signal, outageBudget },
			{ ...request(batchBody(batch, journaled?.rows)), schema, stopRetrying: isOverloadedBy },
		);
		const isOverload = !result.ok && isOverloadedBy(result.failure, result.attempts);
		return { ...result, isOverload, records };
	}

	/**
	 * Reports a failed batch. An incomplete answer still proves that the documents it shows are stored.
	 *
	 * @param records what the answer shows; `undefined` if the batch must not be sent
	 */
	private reportFailed(attempted: Attempted<Origin>, failure: Failure, records?: unknown[]): void {
		const isUnknown = records ? mayBeStored(attempted, failure) : mayBeStoredBefore(attempted);
		if (!isUnknown) for (const earlier of attempted.partlyDone) earlier.ended = true;
		const failed: Ending = { outcome: isUnknown ? 'unknown' : 'rejected', failure };
		const { kind, status = 200 } = failure;
		for (const [at, document] of attempted.batch.entries()) {
			const record = kind === 'unreadable' ? records?.[at] : undefined;
			const stored: Ending = { outcome: 'stored', status, record };
			this.emit(attempted, document, record === undefined ? failed : stored);
		}
	}
}

/** Head start of a request before the next batch is made, in milliseconds: making a batch blocks the event loop. */
const SEND_HEAD_START_MS = 4;

/** How a request ended, for the journal. */
function endOf({ failure, mayBeDone }: Result<unknown>): BatchEnd {
	if (!failure) return 'done';
	return !mayBeDone && (isTooLarge(failure) || certainlyNotDone(failure)) ? 'nothing' : 'unclear';
}

/** An answer without the records of the journal's rows. */
function withoutRecords(answer: unknown, ids: string[] = []): unknown {
	if (!Array.isArray(answer)) return answer;
	return answer.filter((record) => !ids.includes(recordId(record) ?? ''));
}

type Batch<Origin> = Array<ReadyDocument<Origin>>;

/** A batch, or part of one, and what was attempted with it. */
interface Attempted<Origin> {
	batch: Batch<Origin>;
	number: number;
	/** Earlier requests that carried its documents. */
	attempts: number;
	/** Whether an earlier request may have been carried out unnoticed. */
	mayBeDone: boolean;
	/** Earlier requests that may have stored some of their documents. */
	partlyDone: PartlyDone[];
}

/** A rejected request: the documents before the rejected one are stored, none after it (service behaviour, E3). */
interface PartlyDone {
	failure: Failure;
	/**
	 * Whether one of its documents was certainly rejected: neither that document nor any after it was stored by this
	 * request.
	 */
	ended: boolean;
}

/** Send a batch this often before halving it after timeouts. */
const TRIES_BEFORE_HALVING = 3;

/**
 * From this size on, repeatedly closed connections may mean that the batch is too large: 1 MiB, the default limit of
 * nginx.
 */
const LARGE_BYTES = 1024 * 1024;

/** Whether a batch is more than the server, or a gateway before it, can handle at once. */
const overloads = (batch: Batch<unknown>, failure: Failure) =>
	isOverdue(failure) || (isCutOff(failure) && batchBytes(batch) >= LARGE_BYTES);

/** Whether earlier requests may have stored documents of a batch. */
function mayBeStoredBefore({ mayBeDone, partlyDone }: Attempted<unknown>): boolean {
	return mayBeDone || partlyDone.length > 0;
}

/**
 * Whether a failure proves that no document of a batch is stored: servers look up the knowledgebase first, and a 404 is
 * about it if no document names a file that was uploaded before this run.
 */
function storesNothing(attempted: Attempted<unknown>, failure: Failure): boolean {
	const mayLackFile = attempted.batch.some((one) => one.record.storageFileId && !one.isUploaded);
	return failure.missing !== undefined && !mayLackFile && !mayBeStoredBefore(attempted);
}

/** Whether the halves of a rejected batch may be stored. They are not if the failure is about the knowledgebase. */
function maySplit(attempted: Attempted<unknown>, failure: Failure): boolean {
	return isTooLarge(failure) || (mayBePartlyDone(failure) && !storesNothing(attempted, failure));
}

/** Whether the server may have stored documents of a failed batch. */
function mayBeStored(
	{ batch, mayBeDone, partlyDone }: Attempted<unknown>,
	failure: Failure,
): boolean {
	if (mayBeDone || failure.kind === 'cancelled') return true;
	return partlyDone.some((earlier) => !earlier.ended && !hasRefused(earlier, batch, failure));
}

/**
 * Whether an earlier request was rejected because of this one document: the server now rejects the document alone
 * with the same reason. A different reason may be new and follow from the document being stored already; chunks are
 * rejected for just that; and a 500 proves nothing about a document.
 */
function hasRefused(
	{ failure: earlier }: PartlyDone,
	[document]: Batch<unknown>,
	failure: Failure,
): boolean {
	if (!document || !isRejection(failure) || document.record.chunks) return false;
	return failure.status === earlier.status && failure.reason === earlier.reason;
}

/** Runs work on the same IDs sequentially, in the order given, so that the later of two documents with one ID wins. */
export class IdOrder {
	/** The latest unfinished work on each ID. */
	private readonly last = new Map<string, Promise<void>>();

	/** Runs work as soon as all earlier work on its IDs has ended. */
	async after(ids: string[], work: () => Promise<void>): Promise<void> {
		const earlier = ids.flatMap((id) => this.last.get(id) ?? []);
		const done = earlier.length === 0 ? work() : Promise.allSettled(earlier).then(work);
		for (const id of ids) this.last.set(id, done);
		try {
			await done;
		} finally {
			for (const id of ids) if (this.last.get(id) === done) this.last.delete(id);
		}
	}
}
