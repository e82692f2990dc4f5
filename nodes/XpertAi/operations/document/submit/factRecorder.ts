import { has } from 'lodash';

import { toItemJson } from '../../../execution/outputs';
import type { DocumentFact, Fact } from '../../../ingest/facts';
import type { SourceMemory } from '../../../ingest/memory';
import type { Processing } from '../../../ingest/processing';
import { processingState, type StatusRecord } from '../../../ingest/statuses';
import type { DocumentReport } from './documentReport';
import type { SubmitDocument } from './makeReadyDocument';
import type { SourceNameAndShard } from '../sourceIdentity';
import type { SourceContents } from './sourceContents';
import type { Submission } from './submission';

type StoredFact = Extract<DocumentFact<DocumentReport>, { outcome: 'stored' }>;
type ProcessedFact = Extract<Fact<DocumentReport>, { outcome: 'processed' }>;

/** Maximum number of documents in `FactRecorder.startedNow`, to save memory. */
const MAX_STARTED_NOW = 1000;

const REPLACED_ON_SERVER_HINT =
	'on the server already: of another node, of this one before it remembered, or disabled since.';

/** Sources without a name share their keys. */
export const SHARED_KEYS_HINT =
	'If another node stores them under the same keys, this one replaces them: give each node a Source Name.';

/** The name and key of a document, as the memory stores them. */
const nameAndKey = ({ record: { name }, key }: SubmitDocument) => (name ? { name, key } : { key });

/**
 * Records what becomes of the documents of a source: in the tally of the run, in the memory, and in `SourceContents`.
 * Starts the processing of stored documents.
 */
export class FactRecorder {
	/** What earlier runs of this source stored. Unset if this run uses no memory. */
	memory?: SourceMemory;
	/**
	 * Documents that an earlier run stored without processing. This run has started the processing. If the processing
	 * fails, the run sends the document again (see `takeStartedNow`). The keys are IDs in lower case.
	 */
	private readonly startedNow = new Map<string, SubmitDocument>();

	/** @param processing starts and follows the processing on the server; unset if this run starts no processing */
	constructor(
		private readonly submission: Submission,
		private readonly source: SourceNameAndShard,
		private readonly contents: SourceContents,
		private readonly processing?: Processing,
	) {}

	/** Records the outcome of a document or a request. Starts the processing of a document that needs it. */
	handleFact(fact: Fact<DocumentReport>): void {
		if (fact.outcome === 'processed') return this.handleProcessing(fact);
		// An earlier document with the same ID may still be in `startedNow`. It must be reported first.
		if ('document' in fact) this.reportIfStartedNow(fact.document.id);
		// A document in `startedNow` is recorded when its processing ends.
		if (this.tryStartNow(fact)) return;
		this.submission.recordFact(fact);
		this.contents.countIfGap(fact);
		this.submission.circuitBreaker.count(fact);
		if ('document' in fact) this.handleOutcome(fact);
	}

	/** Discards the report of a document, records its outcome in the memory, and starts its processing if needed. */
	private handleOutcome(fact: DocumentFact<DocumentReport>): void {
		const { document } = fact;
		this.contents.discardReport(document.id, document.report);
		switch (fact.outcome) {
			case 'stored':
				return this.handleStored(fact);
			case 'unchanged':
				return this.handleUnchanged(document, fact.status);
			// Not for `unknown`: the server may have stored the document, so its entry stays. Its content is unknown, so the
			// next run sends it again.
			case 'rejected':
			case 'notSent':
				// Without `failure`, no request was tried, so the memory has no new entry to remove.
				if (fact.failure) this.memoryFor(document)?.recordRejected(document.id);
		}
	}

	private handleStored(fact: StoredFact): void {
		const { document, record: storedRecord } = fact;
		const { comparisonHash = '', id, lacksStableId, record, report } = document;
		const memory = this.memoryFor(document);
		if (lacksStableId) this.contents.withoutStableId += 1;
		const isNewToMemory = memory?.recordStored(id, comparisonHash, nameAndKey(document));
		if (isNewToMemory) this.addReplacedOnServerHints(fact);
		// A disabled document needs no processing, because assistants must not find it.
		if (record.disabled) return memory?.known.markProcessed(id);
		// Uses the ID in the answer, because the server may keep an earlier ID of the document.
		const { id: storedId } = toItemJson(storedRecord);
		// The report of a file is kept until its processing ends, because the advice about a failure needs the file name.
		const isReportKept = report.isKeptToEnd || report.hasFileToUpload;
		this.startProcessing(String(storedId), isReportKept ? report : undefined);
	}

	/**
	 * Adds hints if a document that is new to the memory has replaced one on the server. Does so only for a source without
	 * a name, as it shares its keys. Adds none after a second try, because the first try may have stored the document that
	 * was replaced.
	 */
	private addReplacedOnServerHints({ attempts, document, record }: StoredFact): void {
		const { memory, source, submission } = this;
		// Documents of a source with shards may come from another shard. Without a key, a document has an ID of its own.
		const sharesKey = !source.sourceName && !source.shard && document.key !== undefined;
		// The server's answer (`E3`) has `updatedAt` for a stored record, and `createdAt` only for a new one.
		const isReplaced = attempts === 1 && has(record, 'updatedAt') && !has(record, 'createdAt');
		if (!isReplaced || !sharesKey || memory?.unsaid?.stored || memory?.failures.lost) return;
		submission.addCountedHint(1, REPLACED_ON_SERVER_HINT);
		submission.addHint(SHARED_KEYS_HINT);
	}

	private handleUnchanged(document: SubmitDocument, status?: StatusRecord): void {
		const { id, report } = document;
		this.memoryFor(document)?.names.addIfUnnamed(id, nameAndKey(document));
		const state = processingState(status);
		// Follows a document that is still in process, and starts one whose processing never began. Without a status,
		// storing was enough, or the status could not be read.
		if (status && (state === 'running' || state === 'none')) this.startProcessing(id, report);
	}

	/** The memory, if later runs can recognize the document. */
	private memoryFor({ lacksStableId }: SubmitDocument): SourceMemory | undefined {
		return lacksStableId ? undefined : this.memory;
	}

	/** Records the processing facts that were added since the last call. The processing may still be running. */
	handleProcessingFacts(): void {
		for (const fact of this.processing?.takeFacts() ?? []) this.handleProcessing(fact);
	}

	/** Removes and returns the documents of `startedNow`. At the end of processing, these are the failed ones. */
	takeStartedNow(): SubmitDocument[] {
		const documents = [...this.startedNow.values()];
		this.startedNow.clear();
		return documents;
	}

	/** Reports all documents of `startedNow` as unchanged. */
	reportStartedNowAsUnchanged(): void {
		for (const id of this.startedNow.keys()) this.reportIfStartedNow(id);
	}

	/** Removes a document from `startedNow`, if present, and reports it as unchanged. */
	private reportIfStartedNow(id: string): void {
		const document = this.startedNow.get(id.toLowerCase());
		this.startedNow.delete(id.toLowerCase());
		if (document) this.handleFact({ document, outcome: 'unchanged' });
	}

	/**
	 * Starts the processing of an unchanged document that an earlier run stored without processing. Does nothing if
	 * this run does not wait for processing, or if `startedNow` is full. In these cases, `handleUnchanged` starts it.
	 *
	 * @returns whether the document was added to `startedNow`
	 */
	private tryStartNow(fact: Fact<DocumentReport>): boolean {
		const { waitMs } = this.submission.settings;
		const isStored = fact.outcome === 'unchanged' && fact.status;
		if (!isStored || processingState(fact.status) !== 'none') return false;
		if (waitMs === undefined || this.startedNow.size >= MAX_STARTED_NOW) return false;
		const { id, report } = fact.document;
		this.startedNow.set(id.toLowerCase(), fact.document);
		this.startProcessing(id, report);
		return true;
	}

	/** Hands a stored document over to processing. Does nothing if this run processes no documents. */
	private startProcessing(id: string, report: DocumentReport | undefined): void {
		if (!this.processing) return;
		// `reports` must contain only the latest document with this ID.
		if (report && !report.isReplacedByLater) this.contents.reports.set(id.toLowerCase(), report);
		this.processing.add(id);
	}

	/**
	 * Records the last processing state of a document. If the processing failed or is stuck, the memory forgets the
	 * content, so that the document is sent again: by this run if the processing of a document in `startedNow` failed,
	 * otherwise by the next run.
	 */
	private handleProcessing(fact: ProcessedFact): void {
		const { id, lastProcessingState } = fact;
		const report = this.contents.reportOf(id);
		// With `startFailure`, the processing could not be started. Then the memory keeps the content.
		const hasEndedUnprocessed =
			lastProcessingState.state !== 'finish' &&
			lastProcessingState.state !== 'running' &&
			!lastProcessingState.startFailure;
		// This run sends the document again (see `takeStartedNow`), so its failure is not reported.
		if (hasEndedUnprocessed && this.startedNow.has(id.toLowerCase()))
			return this.memory?.known.forgetContent(id);
		this.reportIfStartedNow(id);
		this.submission.recordFact({ ...fact, report });
		this.submission.circuitBreaker.count(fact);
		// The outcome is unset if a later document with this ID is on its way.
		if (report?.outcome) this.contents.discardReport(id, report);
		// Without a route for processing, a server processes documents when it stores them.
		if (lastProcessingState.state === 'finish' || lastProcessingState.hasNoRoute)
			this.memory?.known.markProcessed(id);
		else if (lastProcessingState.isStuck || hasEndedUnprocessed)
			this.memory?.known.forgetContent(id);
	}
}
