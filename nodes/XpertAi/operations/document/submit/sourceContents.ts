import { pick } from 'lodash';
import { NodeOperationError } from 'n8n-workflow';

import type { Item } from '../../../execution/item';
import type { Fact } from '../../../ingest/facts';
import { SeenDocuments } from '../../../ingest/seenDocuments';
import { isRejection } from '../../../transport/failure';
import { type DocumentReport, OUTCOME_NAMES } from './outcomes';
import type { Document } from './readyDocument';
import type { Submission } from './submission';

/**
 * The last known state of a document. `listed`: the source contains the document, which has no outcome yet.
 * `unreadable`: the document could not be read. It does not replace an earlier one with the same ID. Otherwise: the
 * outcome.
 */
const SEEN = ['listed', 'unreadable', ...OUTCOME_NAMES] as const;

/** The documents that a source contains in this run, and what became of them. */
export class SourceContents {
	/**
	 * The documents that the source contains in this run, with what became of each that is not in `reports` any more.
	 * Used to find missing documents, and documents that come again.
	 */
	readonly seen = new SeenDocuments(SEEN);
	/**
	 * The latest document with each ID (in lower case), to the end of the run. To save memory, an untracked document
	 * (see `DocumentReport.isTracked`) is removed once the run is done with it.
	 */
	readonly reports = new Map<string, DocumentReport>();
	/**
	 * Number of failed documents that leave unclear what the source contains, or what is stored (see `recordGap`). If
	 * above 0, this run does not disable documents.
	 */
	gaps = 0;
	/** Number of files of records that held none. */
	emptyFiles = 0;
	/** Number of stored documents that later runs cannot recognize (`lacksStableId`). */
	withoutStableId = 0;

	/** @param item the first item of the source */
	constructor(
		private readonly submission: Submission,
		private readonly item: Item,
	) {}

	/** Records the ID of a document. If an earlier document has this ID, reports the earlier document as replaced. */
	recordSeen({ id, lacksStableId, key, report }: Document): void {
		if (lacksStableId) return;
		const released = this.releasedReport(id);
		// The name of a released document is not kept: its key identifies it, or else the name of the later one.
		const named = released && { ...released, ...pick(report, key === undefined ? 'name' : 'key') };
		const earlier = this.reports.get(id.toLowerCase()) ?? named;
		if (earlier) this.submission.add({ outcome: 'replaced', report: earlier });
		this.reports.set(id.toLowerCase(), report);
		this.recordSeenAs(id, 'listed');
	}

	/** Records that a document is present in the source. An unreadable one changes nothing about an earlier one. */
	recordSeenAs(id: string, state: 'listed' | 'unreadable'): void {
		if (state === 'listed' || !this.seen.has(id)) this.seen.set(id, state);
	}

	/** The report of a document. Makes it from what `seen` keeps, if it was released. */
	reportOf(id: string): DocumentReport | undefined {
		return this.reports.get(id.toLowerCase()) ?? this.releasedReport(id);
	}

	/**
	 * Removes an untracked document from `reports`. `seen` keeps what became of it. Does nothing if a later document has
	 * taken its place.
	 */
	release(id: string, report: DocumentReport): void {
		if (report.isTracked || report.isReplaced) return;
		this.reports.delete(id.toLowerCase());
		if (this.seen.has(id)) this.seen.set(id, report.outcome ?? 'listed');
	}

	/** Makes the report of a document from what `seen` keeps of it. */
	private releasedReport(id: string): DocumentReport | undefined {
		const became = this.seen.get(id);
		if (became === undefined || became === 'unreadable') return undefined;
		return { item: this.item, id, outcome: became === 'listed' ? undefined : became };
	}

	/**
	 * Counts a document in `gaps` if it was not sent, or if its outcome is unclear. Does not count a document with an
	 * invalid file, or a document that the server rejected for a stated reason. Such a document is certainly present in
	 * the source. But a rejected document that later runs cannot recognize (`lacksStableId`) always counts.
	 */
	recordGap(fact: Fact<DocumentReport>): void {
		const isGap =
			fact.outcome === 'unknown' ||
			fact.outcome === 'notSent' ||
			(fact.outcome === 'unreadable' && !(fact.error instanceof NodeOperationError)) ||
			(fact.outcome === 'rejected' &&
				(fact.document.lacksStableId ||
					!isRejection(fact.failure) ||
					fact.failure.reason === undefined));
		if (isGap) this.gaps += 1;
	}
}
