import type { Clock } from '../transport/clock';
import type { Failure } from '../transport/failure';
import type { ApiRequest, Outcome, Send } from '../transport/request';
import type { RetryLimits } from '../transport/retryPolicy';
import { sendWithRetries } from '../transport/sendWithRetries';
import { batchBody, batchBytes, batches, halves } from './batches';
import type { BatchLimits, Prepared } from './batches';

/** What became of one document. `unknown`: no answer says whether the server has stored it. */
export type DocumentOutcome<Origin> = {
	document: Prepared<Origin>;
	/** Number of the batch, counted from 1. */
	batch: number;
	/** Requests the document was in. */
	attempts: number;
} & (
	| { outcome: 'stored'; status: number; record: unknown }
	| { outcome: 'rejected' | 'unknown'; failure: Failure }
);

/** What submission needs from outside: it knows neither n8n nor HTTP. */
export interface Submission<Origin> {
	documents: Iterable<Prepared<Origin>> | AsyncIterable<Prepared<Origin>>;
	batchLimits: BatchLimits;
	retryLimits: RetryLimits;
	/** Requests at once. */
	concurrency: number;
	/** Whether a batch without ids may be cut up to find the documents the server rejects. */
	isolateWithoutIds: boolean;
	send: Send;
	/** The request (E3) that carries a batch. */
	request: (body: string) => ApiRequest;
	/** Told each document's outcome once, batch by batch as they end. */
	onOutcome: (outcome: DocumentOutcome<Origin>) => void;
	/** Asked after a document failed: whether further batches may start. */
	goOn: () => boolean;
	clock: Clock;
	signal?: AbortSignal;
}

/** Counts of a submission. */
export interface SubmissionCounts {
	batches: number;
	bytes: number;
	requests: number;
	retries: number;
	splits: number;
}

/** Statuses after which some documents of a batch may be stored and others not (E3 is not transactional). */
const PARTIAL_STATUS = new Set([400, 404, 422, 500]);

/** Statuses with which the server refuses a batch before it stores anything of it. */
const REFUSED_STATUS = new Set([401, 403, 413]);

/**
 * Submits documents in batches, several at once if asked to. Each document is told to `onOutcome`
 * exactly once, unless the execution is stopped or a failure ends the submission before its turn.
 */
export async function submitDocuments<Origin>(
	submission: Submission<Origin>,
): Promise<SubmissionCounts> {
	return await new Submitter(submission).run();
}

interface Attempted<Origin> {
	batch: Array<Prepared<Origin>>;
	number: number;
	/** Requests its documents were in before. */
	attempts: number;
}

class Submitter<Origin> {
	private readonly counts: SubmissionCounts = {
		batches: 0,
		bytes: 0,
		requests: 0,
		retries: 0,
		splits: 0,
	};

	private stopped = false;

	private storedAny = false;

	/** Set when a whole batch was rejected with 404 before anything was stored: the knowledgebase is missing. */
	private knowledgebaseMissing = false;

	constructor(private readonly submission: Submission<Origin>) {}

	async run(): Promise<SubmissionCounts> {
		const { documents, batchLimits, concurrency } = this.submission;
		const source = batches(documents, batchLimits);
		const work = async () => {
			while (!this.stopped && !this.submission.signal?.aborted) {
				const { done, value: batch } = await source.next();
				if (done) return;
				this.counts.batches += 1;
				await this.settleBatch(batch, this.counts.batches);
			}
		};
		await Promise.all(Array.from({ length: concurrency }, work));
		return this.counts;
	}

	private async settleBatch(batch: Array<Prepared<Origin>>, number: number): Promise<void> {
		const before = this.storedAny;
		const failure = await this.settle({ batch, number, attempts: 0 });
		if (!failure) return;
		if (failure.status === 404 && !before && !this.storedAny) this.knowledgebaseMissing = true;
		if (!this.submission.goOn()) this.stopped = true;
	}

	/**
	 * Sends a batch until each of its documents has an outcome.
	 *
	 * @returns the last failure, if any document failed
	 */
	private async settle({
		batch,
		number,
		attempts,
	}: Attempted<Origin>): Promise<Failure | undefined> {
		const { send, request, retryLimits, clock, signal, isolateWithoutIds } = this.submission;
		const repeatable = batch.every(({ id }) => id !== undefined);
		const result = await sendWithRetries(send, {
			request: request(batchBody(batch)),
			limits: retryLimits,
			repeatable,
			clock,
			signal,
		});
		const { outcome } = result;
		const tried = attempts + result.attempts;
		this.counts.requests += result.attempts;
		this.counts.retries += result.attempts - 1;
		this.counts.bytes += batchBytes(batch) * result.attempts;
		if (outcome.ok) {
			this.reportStored({ batch, number, attempts: tried }, outcome);
			return undefined;
		}
		if (batch.length > 1 && this.maySplit(outcome.failure, repeatable || isolateWithoutIds)) {
			this.counts.splits += 1;
			const [first, second] = halves(batch);
			const failed = await this.settle({ batch: first, number, attempts: tried });
			return (await this.settle({ batch: second, number, attempts: tried })) ?? failed;
		}
		this.reportFailed({ batch, number, attempts: tried }, outcome.failure, result.mayBeDone);
		return outcome.failure;
	}

	/** 413 stores nothing, so its halves may always be sent; the others only if that can double nothing, or the user says so. */
	private maySplit({ kind, status }: Failure, allowed: boolean): boolean {
		if (kind !== 'status' || status === undefined) return false;
		if (status === 413) return true;
		if (status === 404 && this.knowledgebaseMissing) return false;
		return allowed && PARTIAL_STATUS.has(status);
	}

	/** The server answers with the stored records in the order sent (E3, service behaviour). */
	private reportStored(
		{ batch, number, attempts }: Attempted<Origin>,
		{ answer, status }: Extract<Outcome, { ok: true }>,
	): void {
		this.storedAny = true;
		const matches = Array.isArray(answer) && answer.length === batch.length;
		batch.forEach((document, index) => {
			const record: unknown = matches ? answer[index] : undefined;
			this.submission.onOutcome({
				document,
				batch: number,
				attempts,
				outcome: 'stored',
				status,
				record,
			});
		});
	}

	private reportFailed(
		{ batch, number, attempts }: Attempted<Origin>,
		failure: Failure,
		mayBeDone: boolean,
	): void {
		const { kind, status = 0 } = failure;
		const refused = kind === 'refused' || kind === 'redirect' || REFUSED_STATUS.has(status);
		const partial = PARTIAL_STATUS.has(status) && batch.length > 1;
		const outcome =
			(mayBeDone || partial || kind === 'cancelled') && !refused ? 'unknown' : 'rejected';
		for (const document of batch) {
			this.submission.onOutcome({ document, batch: number, attempts, outcome, failure });
		}
	}
}
