import chunk from 'lodash/chunk';
import compact from 'lodash/compact';

import { z } from 'zod';

import type { Failure } from '../transport/failure';
import {
	certainlyNotDone,
	isCutOff,
	isOverdue,
	isRejection,
	isTooLarge,
	mayBePartlyDone,
} from '../transport/classifyFailure';
import { OutageBudget, call } from '../transport/call';
import type { ApiClient, Result, RetryLimits } from '../transport/call';
import { answeredRecords, recordId, storingFlaw } from './answeredRecords';
import { batchBody, batchBytes, batches, type BatchLimits, type Documents } from './batches';
import type { ReadyDocument, Fact } from './readyDocument';
import type { Folders } from './folders';
import type { BatchEnd, JournaledBatch, SourceMemory } from './memory';

/** The dependencies of storing. It knows neither n8n nor HTTP. */
export interface Storing<Origin> {
	documents: Documents<Origin> | AsyncIterable<ReadyDocument<Origin> | Fact<Origin>>;
	batchLimits: BatchLimits;
	retryLimits: RetryLimits;
	/** Requests at once. */
	concurrency: number;
	client: Pick<ApiClient, 'send' | 'clock' | 'signal'>;
	/** Path of the request (E3). */
	path: string;
	timeoutMs: number;
	/** Creates the folders of a batch before it is sent. */
	folders?: Folders;
	/** Journals each batch; the rows of the journal go around its documents. */
	memory?: Pick<SourceMemory, 'journalBatch'>;
	/** Why no further batch may be sent. */
	circuitBreaker?: { readonly reason?: string };
	/** Whether a document that is not stored ends the sending. */
	stopsAtFailure?: boolean;
}

/**
 * Stores documents in batches, with `concurrency` requests at once. Facts of earlier steps pass.
 *
 * @returns what happens, some facts at a time
 * @throws what the source of the documents throws
 */
export function storeDocuments<Origin>(storing: Storing<Origin>): AsyncGenerator<Fact<Origin>[]> {
	return new Storer(storing).run();
}

class Storer<Origin> {
	private readonly outageBudget: OutageBudget;
	/** What happened since facts were last given. */
	private facts: Array<Fact<Origin>> = [];
	private batchCount = 0;
	private hasFailed = false;

	constructor(private readonly storing: Storing<Origin>) {
		this.outageBudget = new OutageBudget(storing.retryLimits);
	}

	async *run(): AsyncGenerator<Array<Fact<Origin>>> {
		const { documents, batchLimits, client, concurrency } = this.storing;
		const { clock, signal } = client;
		const source = batches<Origin, Fact<Origin>>(documents, batchLimits);
		/** The requests under way, with the IDs of their documents in lower case. */
		const running = new Map<Promise<void>, Set<string>>();
		let reading: Promise<void> | undefined;
		let waiting: Batch<Origin> | undefined;
		let isRead = false;
		let crash: { error: unknown } | undefined;
		const crashed = (error: unknown) => {
			crash ??= { error };
			isRead = true;
		};
		const read = async () => {
			// Making a batch blocks the event loop, so a request gets a head start.
			if (running.size >= concurrency)
				await Promise.race([clock.sleep(SEND_HEAD_START_MS), ...running.keys()]);
			const { done, value } = await source.next();
			if (done) isRead = true;
			else if (Array.isArray(value)) waiting = value;
			else this.facts.push(value);
		};
		while (!signal?.aborted) {
			// Of two documents with one ID, the later one must win.
			const ids = waiting?.map(({ id }) => id.toLowerCase()) ?? [];
			const isFree = [...running.values()].every((others) => !ids.some((id) => others.has(id)));
			if (waiting && running.size < concurrency && isFree) {
				const work = this.storeBatch(waiting)
					.catch(crashed)
					.finally(() => running.delete(work));
				running.set(work, new Set(ids));
				waiting = undefined;
			}
			// The next batch is made while the server works on this one.
			if (!waiting && !isRead && running.size < Math.max(concurrency, 2))
				reading ??= read()
					.catch(crashed)
					.finally(() => (reading = undefined));
			const events = compact([reading, ...running.keys()]);
			if (events.length === 0) break;
			await Promise.race(events);
			if (this.facts.length > 0) yield this.facts.splice(0);
		}
		await Promise.all(running.keys());
		yield this.facts;
		// Closes the source, which may not have been read to its end.
		await source.return(undefined);
		if (crash) throw crash.error;
	}

	private async storeBatch(batch: Batch<Origin>): Promise<void> {
		const { circuitBreaker, stopsAtFailure } = this.storing;
		// Another batch may have failed since this one was read.
		if (circuitBreaker?.reason !== undefined || (this.hasFailed && stopsAtFailure))
			for (const document of batch) this.facts.push({ document, outcome: 'notSent' });
		else {
			const number = ++this.batchCount;
			await this.settle({ batch, number, attempts: 0, mayBeDone: false, partlyDone: [] });
		}
	}

	/** Sends a batch, in halves if need be, until each of its documents has an outcome. */
	private async settle(attempted: Attempted<Origin>): Promise<void> {
		const { batch, number } = attempted;
		const { folders, memory } = this.storing;
		const unfiled = await folders?.createFor(batch.map(({ record }) => record));
		const journaled = unfiled ? { failure: unfiled } : await memory?.journalBatch(hashesOf(batch));
		if (journaled && 'failure' in journaled) return this.reportFailed(attempted, journaled.failure);
		const result = await this.send(batch, journaled);
		journaled?.onEnded(endOf(result), result.mayBeDone);
		const { attempts, failure } = result;
		const isSplit =
			failure && (result.isOverload || (batch.length > 1 && maySplit(attempted, failure)));
		const batches = attempted.attempts === 0 ? 1 : 0;
		this.facts.push({ outcome: 'sent', counts: { attempts, batches, retries: attempts - 1 } });
		const updated = { ...attempted, attempts: attempted.attempts + attempts };
		updated.mayBeDone ||= result.mayBeDone;
		if (result.ok) {
			const { status, records } = result;
			const stored = { outcome: 'stored', status, batch: number } as const;
			for (const [at, document] of batch.entries())
				this.facts.push({ ...stored, document, record: records[at], attempts: updated.attempts });
		} else if (isSplit) {
			if (mayBePartlyDone(failure))
				updated.partlyDone = [...updated.partlyDone, { failure, ended: false }];
			const halves = chunk(batch, Math.ceil(batch.length / 2));
			for (const half of halves) await this.settle({ ...updated, batch: half });
		} else this.reportFailed(updated, result.failure, result.records);
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
		const { client, path, timeoutMs } = this.storing;
		const { outageBudget } = this;
		const canHalve = batch.length > 1 && this.outageBudget.isLeft;
		const stopRetrying = (failure: Failure, attempts: number) =>
			canHalve && attempts >= TRIES_BEFORE_HALVING && overloads(batch, failure);
		let records: unknown[] = [];
		const schema = z.unknown().superRefine((answer, { addIssue }) => {
			const documentAnswer = withoutRecords(answer, journaled?.ids);
			records = answeredRecords(batch, documentAnswer);
			const message = storingFlaw(documentAnswer, records);
			if (message) addIssue({ code: 'custom', message });
		});
		const body = batchBody(batch, journaled?.rows);
		const result = await call(
			{ ...client, outageBudget },
			{ method: 'POST', repeatable: true, path, body, timeoutMs, schema, stopRetrying },
		);
		const isOverload = !result.ok && stopRetrying(result.failure, result.attempts);
		return { ...result, isOverload, records };
	}

	/**
	 * Reports a failed batch. An incomplete answer still proves that the documents it shows are stored.
	 *
	 * @param records what the answer shows; `undefined` if the batch must not be sent
	 */
	private reportFailed(attempted: Attempted<Origin>, failure: Failure, records?: unknown[]): void {
		const { attempts, number: batch } = attempted;
		this.hasFailed = true;
		const isUnknown = records ? mayBeStored(attempted, failure) : mayBeStoredBefore(attempted);
		if (!isUnknown) for (const earlier of attempted.partlyDone) earlier.ended = true;
		const { kind, status } = failure;
		const refusal = records && status !== undefined ? 'rejected' : 'notSent';
		const outcome = isUnknown ? 'unknown' : refusal;
		for (const [at, document] of attempted.batch.entries()) {
			const record = kind === 'unreadable' ? records?.[at] : undefined;
			const fact = { document, batch, attempts };
			if (record === undefined) this.facts.push({ ...fact, outcome, failure });
			else this.facts.push({ ...fact, outcome: 'stored', status: status ?? 200, record });
		}
	}
}

/** Head start of a request before the next batch is made, in milliseconds: making a batch blocks the event loop. */
const SEND_HEAD_START_MS = 4;

/** Content hashes by ID, without documents whose ID is new each time: later runs cannot recognize them. */
const hashesOf = (batch: Batch<unknown>) =>
	new Map(batch.flatMap(({ id, isNew, contentHash = '' }) => (isNew ? [] : [[id, contentHash]])));

/** How a request ended, for the journal. */
function endOf({ failure, mayBeDone }: Result<unknown>): BatchEnd {
	if (!failure) return 'done';
	return !mayBeDone && certainlyNotDone(failure) ? 'nothing' : 'unclear';
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

/** A rejected request: the documents before the rejected one are stored, none after it (seen on the live server, E3). */
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
