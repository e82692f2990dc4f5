import { chunk, compact, map } from 'lodash';
import { z } from 'zod';

import { type ApiClient, call } from '../transport/call';
import {
	type Failure,
	isCutOff,
	isOverdue,
	isRejection,
	isTooLarge,
	mayBePartlyDone,
} from '../transport/failure';
import { matchRecords } from './matchRecords';
import { type Batch, groupIntoBatches, type BatchLimits } from './batches';
import type { Documents, Fact } from './facts';
import { Folders } from './folders';
import type { SourceMemory } from './memory';
import type { DocumentOrFact } from './uploads';

export interface StorerOptions<Report> {
	documents: Documents<Report, DocumentOrFact<Report>>;
	batchLimits: BatchLimits;
	concurrency: number;
	client: ApiClient;
	/** Path of the request that stores documents (E3). */
	path: string;
	timeoutMs: number;
	/** Creates the folders of a batch before the batch is sent. */
	folders?: Folders;
	/** Makes the journal rows that are sent with each batch. */
	memory?: Pick<SourceMemory, 'journalBatch'>;
	/** Once `reason` is set, no more batches are sent. */
	circuitBreaker?: { readonly reason?: string };
	/** Whether to stop sending after the first failed document. */
	stopsAtFailure?: boolean;
}

/** Stores documents in batches. */
export class Storer<Report> {
	/** Facts that `run` has not yielded yet. */
	private facts: Array<Fact<Report>> = [];
	private batchCount = 0;
	private hasFailed = false;

	constructor(private readonly storing: StorerOptions<Report>) {}

	/**
	 * Stores the documents, with up to `concurrency` requests at once. If the execution is stopped, yields no facts for
	 * the remaining documents.
	 *
	 * @throws an error of the document source, or an unexpected error of a batch
	 */
	async *run(): AsyncGenerator<Array<Fact<Report>>> {
		const { batchLimits, circuitBreaker, concurrency, documents, stopsAtFailure } = this.storing;
		/** Batches that are being sent, each with the IDs of its documents in lower case. */
		const running = new Map<Promise<unknown>, Set<string>>();
		const crashes: unknown[] = [];
		try {
			for await (const batch of groupIntoBatches(documents, batchLimits)) {
				if (!Array.isArray(batch)) {
					yield [batch, ...this.facts.splice(0)];
					continue;
				}
				const ids = batch.map(({ id }) => id.toLowerCase());
				// Documents with the same ID are sent one after the other, so that the server keeps the last one.
				const mustWait = () =>
					running.size >= concurrency ||
					[...running.values()].some((others) => ids.some((id) => others.has(id)));
				while (mustWait()) await Promise.race(running.keys());
				yield this.facts.splice(0);
				if (this.storing.client.signal?.aborted || crashes.length > 0) break;
				const isStopped = this.hasFailed && stopsAtFailure;
				if (isStopped || circuitBreaker?.reason !== undefined) {
					yield batch.map((document) => ({ document, outcome: 'notSent' }));
					continue;
				}
				const first = { batch, number: ++this.batchCount, attempts: 0 };
				const work = this.settle({ ...first, mayBeDone: false, partlyDone: [] })
					.catch((error: unknown) => crashes.push(error))
					.finally(() => running.delete(work));
				running.set(work, new Set(ids));
			}
		} finally {
			await Promise.all(running.keys());
		}
		yield this.facts;
		if (crashes.length > 0) throw crashes[0];
	}

	/**
	 * Sends a batch. If the request fails and `maySplit` returns true, or if the batch overloads the server, sends the
	 * two halves of the batch separately.
	 *
	 * @returns whether at least one document is certainly not stored
	 */
	private async settle(attempted: Attempted<Report>): Promise<boolean> {
		const { batch, number } = attempted;
		const { client, folders, memory, path, timeoutMs } = this.storing;
		const unfiled = await folders?.createFor(batch.map(({ record }) => record));
		const journaled = unfiled ? { failure: unfiled } : await memory?.journalBatch(hashesOf(batch));
		if (journaled && 'failure' in journaled) return this.reportFailed(attempted, journaled.failure);
		let records: unknown[] = [];
		const schema = z.unknown().superRefine((answer, { addIssue }) => {
			records = matchRecords(batch, answer, journaled?.ids);
			const shown = compact(records).length;
			const message = `it shows ${shown} of ${batch.length} documents as stored`;
			if (shown < batch.length) addIssue({ code: 'custom', message });
		});
		const [before, behind] = journaled?.rows ?? [];
		const body = `[${compact([before, ...map(batch, 'json'), behind]).join(',')}]`;
		const stopRetrying = (failure: Failure, attempts: number) =>
			batch.length > 1 && attempts >= TRIES_BEFORE_HALVING && isOverload(failure, body);
		const request = { method: 'POST', repeatable: true, path, body, timeoutMs, schema } as const;
		const result = await call(client, { ...request, stopRetrying });
		journaled?.onEnded(result.ok, result.mayBeDone);
		const sent = { ...attempted, attempts: attempted.attempts + result.attempts };
		sent.mayBeDone ||= result.mayBeDone;
		const batches = attempted.attempts === 0 ? 1 : 0;
		const counts = { attempts: result.attempts, batches, retries: result.attempts - 1 };
		this.facts.push({ outcome: 'sent', counts });
		if (result.ok) {
			const { status } = result;
			const stored = { outcome: 'stored', status, batch: number, attempts: sent.attempts } as const;
			for (const [at, document] of batch.entries())
				this.facts.push({ ...stored, document, record: records[at] });
			return false;
		}
		const { failure } = result;
		if (!maySplit(batch, failure) && !stopRetrying(failure, result.attempts))
			return this.reportFailed(sent, failure, records);
		if (mayBePartlyDone(failure)) sent.partlyDone = [...sent.partlyDone, failure];
		let isRejected = false;
		for (const half of chunk(batch, Math.ceil(batch.length / 2))) {
			// The server stops at a rejected document. So if the first half has one, the server has stored nothing of the
			// second half.
			if (isRejected) sent.partlyDone = [];
			isRejected = (await this.settle({ ...sent, batch: half })) || isRejected;
		}
		return isRejected;
	}

	/**
	 * Reports the documents of a failed batch. If the answer is incomplete, the documents in it count as stored.
	 *
	 * @param records for each document, its record from the answer; `undefined` if this batch was not sent
	 * @returns whether all documents are certainly not stored
	 */
	private reportFailed(sent: Attempted<Report>, failure: Failure, records?: unknown[]): boolean {
		const { attempts, batch: documents, mayBeDone, number: batch, partlyDone } = sent;
		this.hasFailed = true;
		const { kind, status } = failure;
		// For an incomplete answer, `call` has set `mayBeDone`.
		const isUnknown =
			mayBeDone ||
			kind === 'cancelled' ||
			// A server may answer 500 after it has stored the document.
			status === 500 ||
			partlyDone.some((earlier) => !records || !hasRejected(earlier, documents, failure));
		const knownOutcome = records && status !== undefined ? 'rejected' : 'notSent';
		const outcome = isUnknown ? 'unknown' : knownOutcome;
		for (const [at, document] of documents.entries()) {
			// An incomplete answer is `unreadable`.
			const record = kind === 'unreadable' ? records?.[at] : undefined;
			const fact = { document, batch, attempts };
			if (record === undefined) this.facts.push({ ...fact, outcome, failure });
			else this.facts.push({ ...fact, outcome: 'stored', status: status ?? 200, record });
		}
		return !isUnknown;
	}
}

/** A batch is sent this often before it is halved because no answer came. */
const TRIES_BEFORE_HALVING = 3;

/** From this size on, a closed connection may mean that the request is too large: nginx takes 1 MiB by default. */
const LARGE_BYTES = 1024 * 1024;

/** Whether a request may be more than the server, or a proxy before it, can handle at once. */
const isOverload = (failure: Failure, body: string) =>
	isOverdue(failure) || (isCutOff(failure) && Buffer.byteLength(body) >= LARGE_BYTES);

/** Content hashes by document ID. Skips documents that later runs cannot recognize (`lacksStableId`). */
const hashesOf = (batch: Batch<unknown>) =>
	new Map(
		batch.flatMap(({ id, lacksStableId, contentHash = '' }) =>
			lacksStableId ? [] : [[id, contentHash]],
		),
	);

/** A batch, or a part of a split batch, with the results of earlier requests. */
interface Attempted<Report> {
	batch: Batch<Report>;
	number: number;
	/** Number of earlier requests with these documents. */
	attempts: number;
	/** Whether the server may have processed an earlier failed request. */
	mayBeDone: boolean;
	/**
	 * Failures of earlier requests that may have stored some of these documents. The server stores documents in order,
	 * up to the rejected document.
	 */
	partlyDone: Failure[];
}

/**
 * Whether to send the halves of a failed batch separately. True if the batch was too large, or if an invalid document
 * may have caused the failure. If no document refers to a file of an earlier upload, a 404 means that the
 * knowledgebase is missing, so splitting does not help.
 */
function maySplit(batch: Batch<unknown>, failure: Failure): boolean {
	if (batch.length === 1) return false;
	const mayLackFile = batch.some(({ record, isUploaded }) => record.storageFileId && !isUploaded);
	const isOfDocument = failure.missing === undefined || mayLackFile;
	return isTooLarge(failure) || (mayBePartlyDone(failure) && isOfDocument);
}

/**
 * Whether the batch is a single document that caused both failures. A different reason proves nothing, because the
 * server may reject a document that it has already stored. Always false if the document has chunks, because the server
 * may have stored it before rejecting it.
 */
function hasRejected(earlier: Failure, batch: Batch<unknown>, failure: Failure): boolean {
	if (batch.length > 1 || batch[0]?.record.chunks || !isRejection(failure)) return false;
	return failure.status === earlier.status && failure.reason === earlier.reason;
}
