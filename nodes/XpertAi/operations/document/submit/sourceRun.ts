import type { DocumentGroups } from '../../../ingest/readyDocuments';
import { FolderCreator } from '../../../ingest/folders';
import { RESERVED_JOURNAL_BYTES, SourceMemory } from '../../../ingest/memory';
import { Processing } from '../../../ingest/processing';
import { Storer } from '../../../ingest/storing';
import { uploadFiles } from '../../../ingest/uploads';
import type { Failure } from '../../../transport/failure';
import { UPLOAD_TIMEOUT_SECONDS } from '../../shared/uploadSettings';
import { documentsError } from './documentErrors';
import type { DocumentReport } from './documentReport';
import { memoryPlaceOf, type SourceNameAndShard } from '../sourceIdentity';
import { systemClock } from '../../../transport/clock';
import { knowledgebaseRoutes } from '../../../transport/knowledgebaseRoutes';
import { SourceComparison } from './sourceComparison';
import { SourceContents } from './sourceContents';
import { FactRecorder } from './factRecorder';
import { SourceReader } from './sourceReader';
import type { Submission } from './submission';
import { truncateHint } from '../textHelpers';

/** Number of documents in the first batch. A small batch is processed soon, and shows early if all documents fail. */
const FIRST_BATCH_SIZE = 10;

const NOTHING_REMEMBERED_HINT =
	'Nothing of this source is remembered, so nothing is left out. Check "Knowledgebase": one that does not exist looks the same here. If it was sent before, also check "Source Name" and "Shard"; "Send Everything" remembers nothing.';

const OTHER_RUN_SENDS_REASON = 'Not sent: another run of this source is at work';

/**
 * Handles one source in a run. Reads its documents, compares them with what earlier runs stored, sends them to the
 * knowledgebase, and follows their processing.
 */
export class SourceRun {
	readonly contents: SourceContents;
	readonly reader: SourceReader;
	/** Routes for the memory, the statuses and the folders. They share one `OutageBudget`. */
	readonly memoryRoutes: ReturnType<typeof knowledgebaseRoutes>;
	/** Starts and follows the processing on the server. Unset if this run starts no processing. */
	readonly processing?: Processing;
	/** Compares the documents with those of earlier runs. Unset before the comparison, and if nothing is compared. */
	comparison?: SourceComparison;
	private readonly recorder: FactRecorder;

	/** @param item the first item of this source, for errors about the source */
	constructor(
		readonly submission: Submission,
		readonly knowledgebaseId: string,
		readonly source: SourceNameAndShard,
		readonly item = submission.first,
	) {
		const { settings } = submission;
		this.memoryRoutes = this.newRoutes();
		if (settings.startsProcessing)
			this.processing = new Processing(this.newRoutes(), settings.waitMs);
		const contents = new SourceContents(submission, item);
		const recorder = new FactRecorder(submission, source, contents, this.processing);
		this.contents = contents;
		this.recorder = recorder;
		this.reader = new SourceReader(
			submission,
			knowledgebaseId,
			source.sourceName,
			contents,
			recorder,
		);
	}

	private newRoutes() {
		const { send, settings, signal } = this.submission;
		return knowledgebaseRoutes(
			this.knowledgebaseId,
			{ send, clock: systemClock, signal },
			settings,
		);
	}

	/** What earlier runs of this source stored. Unset if this run uses no memory, or has not opened it yet. */
	get memory(): SourceMemory | undefined {
		return this.recorder.memory;
	}

	set memory(memory: SourceMemory | undefined) {
		this.recorder.memory = memory;
	}

	/** Uploads and stores the documents of this source, and starts their processing. */
	async store(): Promise<void> {
		const { reader, submission } = this;
		if (!submission.canSend) return await this.sendDocuments(reader.readQueuedDocuments());
		const mode = submission.settings.remembers ? 'to send' : 'if kept';
		const memory = await this.newMemory().open(mode);
		if (!memory.isKept) return await this.sendDocuments(reader.readQueuedDocuments());
		this.memory = memory;
		if (memory.holder) return await this.reportNoneSent(memory.holder);
		await this.sendDocuments(this.startComparison(memory).documentsToSend());
	}

	/**
	 * Uploads the files of documents, stores the documents in batches, and starts their processing. Storing and uploads
	 * have an `OutageBudget` each.
	 */
	private async sendDocuments(documents: DocumentGroups<DocumentReport>): Promise<void> {
		const { knowledgebaseId, memory, memoryRoutes, recorder, processing, submission } = this;
		const { first, settings, circuitBreaker } = submission;
		const storer = new Storer({
			...settings,
			client: this.newRoutes().client,
			path: memoryRoutes.storePath,
			memory,
			circuitBreaker,
			stopsAtFailure: !first.context.continueOnFail(),
			documents: uploadFiles({
				documents,
				client: this.newRoutes().client,
				timeoutMs: Math.max(settings.timeoutMs, UPLOAD_TIMEOUT_SECONDS * 1000),
				gate: submission,
				memory,
			}),
			batchLimits: {
				...settings.batchLimits,
				firstCount: FIRST_BATCH_SIZE,
				reservedBytes: memory && RESERVED_JOURNAL_BYTES,
			},
			folders: new FolderCreator(knowledgebaseId, memoryRoutes),
		});
		for await (const some of storer.run()) {
			for (const fact of some) recorder.handleFact(fact);
			recorder.handleProcessingFacts();
			processing?.pollWhenDue();
		}
	}

	/** Ends the work on this source after a failure. Starts the processing of the remaining stored documents. */
	async finishAfterFailure(): Promise<void> {
		await this.processing?.startRemaining();
		this.recorder.handleProcessingFacts();
		this.recorder.reportStartedNowAsUnchanged();
	}

	/**
	 * Whether the processing could not be started or followed. False if the server has no route for processing, because it
	 * then processes documents when it stores them.
	 */
	get isProcessingBroken(): boolean {
		const { failure, hasNoRoute } = this.processing?.result ?? {};
		return failure !== undefined && !hasNoRoute;
	}

	/**
	 * Follows the processing of all documents, until it ends or the maximum wait is over. Then sends the documents from
	 * `takeStartedNow` again, and follows these as well.
	 */
	async followProcessing(): Promise<void> {
		for await (const some of this.processing?.startRestAndPoll() ?? [])
			for (const fact of some) this.recorder.handleFact(fact);
		const notProcessed = this.recorder.takeStartedNow();
		if (notProcessed.length === 0) return;
		await this.sendDocuments([notProcessed]);
		await this.followProcessing();
	}

	/** Reports what the next run would do with each document. Changes nothing on the server. */
	async plan(): Promise<void> {
		const { contents, submission } = this;
		const memory = this.newMemory();
		this.memory = memory;
		if (submission.settings.remembers) await memory.open('to read');
		if (memory.isNew && !memory.holder)
			submission.addSourceHints(this.source.sourceName, [NOTHING_REMEMBERED_HINT]);
		// If the memory could not be read, the queue is empty after this, so the loop below gets no documents.
		if (memory.sendBlockedBy) this.failQueuedItems(memory.sendBlockedBy);
		const { holder } = memory;
		if (holder) {
			const held = `Another run of this source is at work, or was stopped: ${holder.by}`;
			submission.addHint(truncateHint(`${held}, since ${holder.since}`));
			// The other run may still be writing the parts of the memory that seem lost.
			memory.failures.lost = undefined;
		}
		for await (const { document, plan } of this.startComparison(memory).plans()) {
			const { id, report } = document;
			submission.recordFact({ outcome: 'planned', plan, report, id });
			contents.discardReport(id, report);
		}
	}

	/** Reports all items as failed. If the memory cannot be read, they cannot be compared. */
	private failQueuedItems(failure: Failure): void {
		for (const { item } of this.reader.queue.splice(0))
			this.submission.addFailedItem(item, documentsError(item, failure));
	}

	private startComparison(memory: SourceMemory): SourceComparison {
		const { knowledgebaseId, memoryRoutes, recorder, reader, source, submission } = this;
		const { sourceName } = source;
		const place = { knowledgebaseId, sourceName, memory, statusRoutes: memoryRoutes };
		this.comparison = new SourceComparison({ submission, reader, recorder, ...place });
		return this.comparison;
	}

	/** Creates the memory object of this source. Sends no request. */
	newMemory(): SourceMemory {
		const { first, settings, signal } = this.submission;
		const { context } = first;
		const { forgetDamage: acknowledgesLoss, startsProcessing } = settings;
		const place = memoryPlaceOf(this.knowledgebaseId, this.source, context);
		const { name } = context.getWorkflow();
		const runDescription = `execution ${context.getExecutionId()}${name ? ` of "${name}"` : ''}`;
		return new SourceMemory(place, this.memoryRoutes, {
			signal,
			runDescription,
			acknowledgesLoss,
			startsProcessing,
		});
	}

	/** Reports all documents as not sent, because another run of this source is active. */
	private async reportNoneSent({ by, since }: NonNullable<SourceMemory['holder']>): Promise<void> {
		const { item, reader, submission } = this;
		const error = item.operationError(
			`Nothing was sent: another run of this source is at work, ${by}, since ${since}`,
			`Run it again when that one has ended, or a minute after it crashed. Runs that bring other documents need another name in "${item.labelOf('sourceName')}".`,
		);
		submission.addSourceError(error);
		for await (const group of reader.readQueuedDocuments())
			for (const document of group)
				submission.recordFact({ outcome: 'notSent', document, reason: OTHER_RUN_SENDS_REASON });
	}
}
