import { pick } from 'lodash';
import { NodeOperationError } from 'n8n-workflow';

import type { Item } from '../../../execution/item';
import type { Fact } from '../../../ingest/facts';
import { SeenDocuments } from './seenDocuments';
import { isInputRejected } from '../../../transport/failure';
import { type DocumentReport, OUTCOME_NAMES } from './documentReport';
import type { SubmitDocument } from './makeReadyDocument';
import type { Submission } from './submission';

/**
 * The last known state of a document:
 * - `listed`: the source contains the document. The document has no outcome yet.
 * - `unreadable`: the node could not read the document. Such a document does not replace an earlier one with the same ID.
 * - any other state: the outcome of the document.
 */
const SEEN_STATES = ['listed', 'unreadable', ...OUTCOME_NAMES] as const;

/** The documents that a source contains in this run, and what became of them. */
export class SourceContents {
	/**
	 * The state of each document that the source contains in this run. For a document that `discardReport` removed from
	 * `reports`, this is the only record. Used to find missing documents, and documents with the same ID.
	 */
	readonly seen = new SeenDocuments(SEEN_STATES);
	/**
	 * The report of the latest document with each ID, by ID in lower case. To save memory, `discardReport` removes a report
	 * that is not needed to the end of the run (see `DocumentReport.isKeptToEnd`).
	 */
	readonly reports = new Map<string, DocumentReport>();
	/**
	 * Number of failures that leave open what the source contains, or what is stored (see `countIfGap`). If above 0, this
	 * run does not disable documents.
	 */
	gaps = 0;
	/** Number of files of records that contain no record. */
	filesWithoutRecords = 0;
	/** Number of stored documents that later runs cannot recognize (`lacksStableId`). */
	withoutStableId = 0;

	/** @param item the first item of the source */
	constructor(
		private readonly submission: Submission,
		private readonly item: Item,
	) {}

	/**
	 * Records a document that was read. If an earlier document has the same ID, reports the earlier one as replaced. Does
	 * nothing for a document without a stable ID.
	 */
	recordSeen({ id, lacksStableId, key, report }: SubmitDocument): void {
		if (lacksStableId) return;
		const released = this.reportFromSeen(id);
		// `reportFromSeen` gives no name and no key. Equal keys give equal IDs, so the key of the later document is also that
		// of the earlier one. If the later document has no key, its name is used to report the earlier one.
		const named = released && { ...released, ...pick(report, key === undefined ? 'name' : 'key') };
		const earlier = this.reports.get(id.toLowerCase()) ?? named;
		if (earlier) this.submission.recordFact({ outcome: 'replaced', report: earlier });
		this.reports.set(id.toLowerCase(), report);
		this.recordSeenAs(id, 'listed');
	}

	/** Records that the source contains a document. `unreadable` does not overwrite an earlier state. */
	recordSeenAs(id: string, state: 'listed' | 'unreadable'): void {
		if (state === 'listed' || !this.seen.has(id)) this.seen.set(id, state);
	}

	/**
	 * Returns the report of a document. For a released document, the report is made from its state in `seen`. Undefined for
	 * an unknown document.
	 */
	reportOf(id: string): DocumentReport | undefined {
		return this.reports.get(id.toLowerCase()) ?? this.reportFromSeen(id);
	}

	/**
	 * Removes the report of a document from `reports`, to save memory. `seen` keeps the state of the document. Does nothing
	 * if the report is kept to the end of the run, or if a later document has replaced this one.
	 */
	discardReport(id: string, report: DocumentReport): void {
		if (report.isKeptToEnd || report.isReplacedByLater) return;
		this.reports.delete(id.toLowerCase());
		if (this.seen.has(id)) this.seen.set(id, report.outcome ?? 'listed');
	}

	/** Makes a report from the state in `seen`. Returns undefined for an unknown or unreadable document. */
	private reportFromSeen(id: string): DocumentReport | undefined {
		const became = this.seen.get(id);
		if (became === undefined || became === 'unreadable') return undefined;
		return { item: this.item, id, outcome: became === 'listed' ? undefined : became };
	}

	/**
	 * Counts a failure in `gaps` if the failure leaves open which document the source contains, or what is stored:
	 * - The outcome is unknown, or the document was not sent.
	 * - The document could not be read, for another reason than an invalid input.
	 * - The document was rejected, unless the server rejected its content (see `isInputRejected`) with a reason, and the
	 *   document has a stable ID.
	 */
	countIfGap(fact: Fact<DocumentReport>): void {
		const isGap =
			fact.outcome === 'unknown' ||
			fact.outcome === 'notSent' ||
			(fact.outcome === 'unreadable' && !(fact.error instanceof NodeOperationError)) ||
			(fact.outcome === 'rejected' &&
				(fact.document.lacksStableId ||
					!isInputRejected(fact.failure) ||
					fact.failure.reason === undefined));
		if (isGap) this.gaps += 1;
	}
}
