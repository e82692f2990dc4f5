import { chunk, compact, map } from 'lodash';
import { z } from 'zod';

import { type ApiClient, call } from '../transport/call';
import {
	type Failure,
	isConnectionClosed,
	isInputRejected,
	isInternalServerError,
	isTimeout,
	isTooLarge,
	mayHaveStoppedPartway,
} from '../transport/failure';
import { matchRecords } from './matchRecords';
import { type Batch, type BatchLimits, groupIntoBatches } from './batches';
import type { Fact } from './facts';
import type { DocumentGroups } from './readyDocuments';
import type { FolderCreator } from './folders';
import type { BatchJournalRows, SourceMemory } from './memory';
import type { DocumentOrFact } from './uploads';

export interface StorerOptions<Report> {
	documents: DocumentGroups<Report, DocumentOrFact<Report>>;
	batchLimits: BatchLimits;
	concurrency: number;
	client: ApiClient;
	/** Path of the request that stores documents (E3). */
	path: string;
	timeoutMs: number;
	/** Creates the folders of a batch before the batch is sent. */
	folders?: FolderCreator;
	/** Makes the journal rows that are sent with each batch. */
	memory?: Pick<SourceMemory, 'journalBatch'>;
	/** Once `reason` is set, no more batches are sent. */
	circuitBreaker?: { readonly reason?: string };
	/** Whether to stop sending after the first failed document. */
	stopsAtFailure?: boolean;
}

/** A batch, or a part of a split batch, with the results of earlier requests. */
interface BatchWithHistory<Report> {
	batch: Batch<Report>;
	/** Number of the batch. The parts of a split batch have the same number. */
	batchNumber: number;
	/** Number of earlier requests with these documents. */
	attempts: number;
	/** Whether the server may have processed an earlier failed request. */
	mayBeDone: boolean;
	/**
	 * Failures of earlier requests that may have stored some of these documents. The server stores documents in order,
	 * up to the rejected document.
	 */
	partlyDoneFailures: Failure[];
}

/** `someNotStored`: whether at least one document of the batch is certainly not stored. */
interface BatchResult {
	someNotStored: boolean;
}

/** Stores documents in batches. */
export class Storer<Report> {
	/** Facts that `run` has not yielded yet. */
	private facts: Array<Fact<Report>> = [];
	/** Batches that are being sent, each with the IDs of its documents in lower case. */
	private readonly running = new Map<Promise<unknown>, Set<string>>();
	/** Unexpected errors of batches. */
	private readonly crashes: unknown[] = [];
	private batchCount = 0;
	private hasFailed = false;

	constructor(private readonly options: StorerOptions<Report>) {}

	/**
	 * Stores the documents, with up to `concurrency` requests at once. If the execution is stopped, yields no facts for
	 * the remaining documents.
	 *
	 * @throws an error of the document source, or an unexpected error of a batch
	 */
	async *run(): AsyncGenerator<Array<Fact<Report>>> {
		const { batchLimits, client, documents } = this.options;
		try {
			for await (const batch of groupIntoBatches(documents, batchLimits)) {
				if (!Array.isArray(batch)) {
					// This is a fact among the documents, not a batch.
					yield [batch, ...this.facts.splice(0)];
					continue;
				}
				const ids = batch.map(({ id }) => id.toLowerCase());
				while (this.mustWait(ids)) await Promise.race(this.running.keys());
				yield this.facts.splice(0);
				if (client.signal?.aborted || this.crashes.length > 0) break;
				if (this.canSend) this.startSending(batch, ids);
				else yield batch.map((document) => ({ document, outcome: 'notSent' }));
			}
		} finally {
			await Promise.all(this.running.keys());
		}
		yield this.facts;
		if (this.crashes.length > 0) throw this.crashes[0];
	}

	/**
	 * Whether a batch with these IDs must wait for a running request. Documents with the same ID are sent one after the
	 * other, so that the server keeps the last one.
	 */
	private mustWait(ids: string[]): boolean {
		if (this.running.size >= this.options.concurrency) return true;
		return [...this.running.values()].some((runningIds) => ids.some((id) => runningIds.has(id)));
	}

	private get canSend(): boolean {
		const { circuitBreaker, stopsAtFailure } = this.options;
		return !(stopsAtFailure && this.hasFailed) && circuitBreaker?.reason === undefined;
	}

	/** Starts to send a batch. Does not wait for the answer. */
	private startSending(batch: Batch<Report>, ids: string[]): void {
		const batchNumber = ++this.batchCount;
		const work = this.sendBatch({
			batch,
			batchNumber,
			attempts: 0,
			mayBeDone: false,
			partlyDoneFailures: [],
		})
			.catch((error: unknown) => this.crashes.push(error))
			.finally(() => this.running.delete(work));
		this.running.set(work, new Set(ids));
	}

	/**
	 * Sends a batch and reports its documents. Sends the two halves of the batch separately if an invalid document may
	 * have caused the failure, or if the batch was too much for the server.
	 */
	private async sendBatch(earlier: BatchWithHistory<Report>): Promise<BatchResult> {
		const { batch, batchNumber } = earlier;
		const journal = await this.prepareToSend(batch);
		if (journal && 'failure' in journal) return this.reportFailed(earlier, journal.failure);
		const { isOverload, records, result } = await this.requestStoring(batch, journal);
		const attempts = earlier.attempts + result.attempts;
		const mayBeDone = earlier.mayBeDone || result.mayBeDone;
		const attempted = { ...earlier, attempts, mayBeDone };
		// A half has earlier attempts. It does not count as a batch, because its whole batch was counted.
		const counts = { attempts: result.attempts, retries: result.attempts - 1 };
		this.facts.push({
			outcome: 'sent',
			counts: { ...counts, batches: earlier.attempts > 0 ? 0 : 1 },
		});
		if (result.ok) {
			const stored = {
				outcome: 'stored',
				status: result.status,
				batch: batchNumber,
				attempts,
			} as const;
			for (const [at, document] of batch.entries())
				this.facts.push({ ...stored, document, record: records[at] });
			return { someNotStored: false };
		}
		const { failure } = result;
		if (isOverload || maySplit(batch, failure)) return await this.sendHalves(attempted, failure);
		return this.reportFailed(attempted, failure, records);
	}

	/**
	 * Creates the folders and the journal rows of a batch.
	 *
	 * @returns the journal rows, if there is a journal; or a failure if the batch must not be sent
	 */
	private async prepareToSend(batch: Batch<Report>) {
		const { folders, memory } = this.options;
		const failure = await folders?.createFor(map(batch, 'record'));
		return failure ? { failure } : await memory?.journalBatch(hashesOf(batch));
	}

	/**
	 * Sends the request that stores a batch.
	 *
	 * @returns an object:
	 * - `result`: the answer or the failure.
	 * - `records`: the record of each document from the answer; `undefined` for a document that the answer does not list.
	 *   Empty without a JSON answer.
	 * - `isOverload`: whether the request failed because the batch was too much for the server.
	 */
	private async requestStoring(batch: Batch<Report>, journal: BatchJournalRows | undefined) {
		const { client, path, timeoutMs } = this.options;
		let records: unknown[] = [];
		// Keeps the records even if the answer is incomplete. The issue then turns the answer into a failure.
		const schema = z.unknown().superRefine((answer, { addIssue }) => {
			records = matchRecords(batch, answer, journal?.ids);
			const shown = compact(records).length;
			const message = `it shows ${shown} of ${batch.length} documents as stored`;
			if (shown < batch.length) addIssue({ code: 'custom', message });
		});
		const rows = [journal?.before, ...map(batch, 'recordJson'), journal?.after];
		const body = `[${compact(rows).join(',')}]`;
		const isOverload = (failure: Failure, attempts: number) =>
			batch.length > 1 && attempts >= TRIES_BEFORE_HALVING && mayBeOverload(failure, body);
		const request = { method: 'POST', repeatable: true, path, body, timeoutMs, schema } as const;
		const result = await call(client, { ...request, shouldStopRetrying: isOverload });
		journal?.onEnded(result.ok, result.mayBeDone);
		return {
			result,
			records,
			isOverload: !result.ok && isOverload(result.failure, result.attempts),
		};
	}

	/** Sends the two halves of a batch, one after the other. */
	private async sendHalves(
		attempted: BatchWithHistory<Report>,
		failure: Failure,
	): Promise<BatchResult> {
		const { batch } = attempted;
		let { partlyDoneFailures } = attempted;
		if (mayHaveStoppedPartway(failure)) partlyDoneFailures = [...partlyDoneFailures, failure];
		let someNotStored = false;
		for (const half of chunk(batch, Math.ceil(batch.length / 2))) {
			// A document of the first half counts as certainly not stored only if it caused all `partlyDoneFailures`.
			// Otherwise, `failedOutcome` returns `unknown`. The server stores documents in order, so those requests
			// stopped at this document, and stored nothing of the second half.
			if (someNotStored) partlyDoneFailures = [];
			const end = await this.sendBatch({ ...attempted, batch: half, partlyDoneFailures });
			someNotStored ||= end.someNotStored;
		}
		return { someNotStored };
	}

	/**
	 * Reports the documents of a failed batch. If the answer is incomplete, the documents in it count as stored.
	 *
	 * @param records for each document, its record from the answer; empty without a JSON answer; `undefined` if this batch
	 * was not sent
	 */
	private reportFailed(
		attempted: BatchWithHistory<Report>,
		failure: Failure,
		records?: unknown[],
	): BatchResult {
		const { attempts, batch: documents, batchNumber: batch } = attempted;
		this.hasFailed = true;
		const outcome = failedOutcome(attempted, failure, records !== undefined);
		for (const [at, document] of documents.entries()) {
			// An incomplete answer is `unreadable`.
			const record = failure.kind === 'unreadable' ? records?.[at] : undefined;
			const fact = { document, batch, attempts };
			if (record === undefined) this.facts.push({ ...fact, outcome, failure });
			else this.facts.push({ ...fact, outcome: 'stored', status: failure.status ?? 200, record });
		}
		return { someNotStored: outcome !== 'unknown' };
	}
}

/** Number of attempts to send a batch before `mayBeOverload` is a reason to halve it. */
const TRIES_BEFORE_HALVING = 3;

/** From this size on, a closed connection may mean that the request is too large: nginx takes 1 MiB by default. */
const LARGE_BYTES = 1024 * 1024;

/** Whether a request may be more than the server, or a proxy before it, can handle at once. */
const mayBeOverload = (failure: Failure, body: string) =>
	isTimeout(failure) || (isConnectionClosed(failure) && Buffer.byteLength(body) >= LARGE_BYTES);

/** Returns comparison hashes by document ID. Skips documents that later runs cannot recognize (`lacksStableId`). */
const hashesOf = (batch: Batch<unknown>) =>
	new Map(
		batch.flatMap(({ id, lacksStableId, comparisonHash = '' }) =>
			lacksStableId ? [] : [[id, comparisonHash]],
		),
	);

/**
 * Whether to send the halves of a failed batch separately. True if the batch was too large, or if an invalid document
 * may have caused the failure.
 */
function maySplit(batch: Batch<unknown>, failure: Failure): boolean {
	if (batch.length === 1) return false;
	if (isTooLarge(failure)) return true;
	// If no document refers to a file of an earlier upload, a 404 means that the knowledgebase is missing. Then all
	// documents would fail.
	const mayLackFile = batch.some(({ record, isUploaded }) => record.storageFileId && !isUploaded);
	return mayHaveStoppedPartway(failure) && (failure.missing === undefined || mayLackFile);
}

/**
 * Returns the outcome of the documents in a failed batch: `unknown` if a request may have stored some of them; `rejected`
 * if the server has answered and stored none; otherwise `notSent`.
 *
 * @param failure why the batch failed; if it was not sent, the failure of the folders or the journal
 * @param wasSent whether this batch was sent. If not, requests of a larger batch may still have contained its documents.
 * Makes no difference if `mayBeDone` is true, for a `cancelled` request and for status 500.
 */
function failedOutcome(
	{ batch, mayBeDone, partlyDoneFailures }: BatchWithHistory<unknown>,
	failure: Failure,
	wasSent: boolean,
): 'unknown' | 'rejected' | 'notSent' {
	// For an incomplete answer, `call` has set `mayBeDone`. For a cancelled request, `call` does not set it.
	if (mayBeDone || failure.kind === 'cancelled') return 'unknown';
	if (isInternalServerError(failure)) return 'unknown';
	// An earlier request may have stored these documents, unless it got the same rejection for the same single document.
	// If this batch was not sent, any earlier request may have stored them.
	const isRejectedAgain = (earlier: Failure) => wasSent && isSameRejection(batch, earlier, failure);
	if (!partlyDoneFailures.every(isRejectedAgain)) return 'unknown';
	return wasSent && failure.status !== undefined ? 'rejected' : 'notSent';
}

/**
 * Whether the batch is a single document that caused both failures. A different reason proves nothing, because the
 * server may reject a document that it has already stored. Always false if the document has chunks, because the server
 * may have stored it before rejecting it.
 */
function isSameRejection(batch: Batch<unknown>, earlier: Failure, failure: Failure): boolean {
	if (batch.length > 1 || batch[0]?.record.chunks || !isInputRejected(failure)) return false;
	return failure.status === earlier.status && failure.reason === earlier.reason;
}
