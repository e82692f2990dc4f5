import type { IDataObject } from 'n8n-workflow';

import type { ItemError } from '../../../execution/apiError';
import type { Item } from '../../../execution/item';
import type { Fact } from '../../../ingest/facts';
import type { DocumentNameAndKey } from '../../../ingest/memory';
import type { PlannedStanding } from '../../../ingest/compareDocuments';
import type { LastProcessingState } from '../../../ingest/statuses';

/** Words for the counts of document outcomes, such as `2 stored`. */
export const OUTCOME_WORDS = {
	/** Stored and processed. */
	found: 'can be found',
	/** Stored. The run did not see its processing finish: it was not started, has failed, or may still be running. */
	stored: 'stored',
	unchanged: 'unchanged and not sent',
	replaced: 'replaced by a later one',
	disabled: 'disabled',
	rejected: 'rejected',
	unknown: 'unknown',
	notSent: 'not sent',
};

export type OutcomeName = keyof typeof OUTCOME_WORDS;

export const OUTCOME_NAMES = Object.keys(OUTCOME_WORDS) as OutcomeName[];

/** Words for the counts of planned actions, such as `3 changed`. */
export const PLAN_WORDS: Record<PlannedStanding, string> = {
	new: 'new',
	changed: 'changed',
	back: 'back again',
	unchanged: 'unchanged',
	gone: 'gone',
};

/** Facts about one document of the run, for the reports. */
export interface DocumentReport {
	item: Item;
	name?: string;
	key?: string;
	id?: string;
	outcome?: OutcomeName;
	/** Whether `SourceContents.reports` keeps this object to the end of the run. */
	isKeptToEnd?: boolean;
	/** Whether the node uploads a file for the document. */
	hasFileToUpload?: boolean;
	/** Whether the node removed U+0000 from the record. */
	hadNul?: boolean;
	/** Whether a later document of the run has the same key or ID. */
	isReplacedByLater?: boolean;
	sendInfo?: { status?: number; attempts: number; batch: number };
	/** The record in the server's answer. With Simplify, only the ID and the name are kept. */
	storedRecord?: IDataObject;
	/** The error of reading, uploading or storing the document. */
	error?: ItemError;
	/** Whether other documents would fail with the same error, e.g. because the knowledgebase does not exist. */
	affectsAll?: boolean;
	/** Why the node did not send the document. */
	notSentReason?: string;
	/** The last known state of the server's processing. */
	lastProcessingState?: LastProcessingState;
	plan?: PlannedStanding;
}

/** A fact about a run, such as the outcome of a document. */
export type SubmitFact =
	| Exclude<Fact<DocumentReport>, { outcome: 'processed' }>
	/**
	 * If `report` is unset, this run has stored the document, but has released its report and cannot make one from the ID
	 * (see `SourceContents.reportOf`). To keep `report` for every document needs too much RAM.
	 */
	| {
			outcome: 'processed';
			id: string;
			lastProcessingState: LastProcessingState;
			report?: DocumentReport;
	  }
	| { outcome: 'read'; report: DocumentReport; unusedColumns?: string[] }
	/** A file of records contained no record. */
	| { outcome: 'noRecords' }
	| { outcome: 'unreadable'; document: { report: DocumentReport }; error: unknown }
	/** A later document of the run has the same key or ID. */
	| { outcome: 'replaced'; report: DocumentReport }
	/** The node disabled a document that is missing from the source. */
	| ({ outcome: 'disabled'; id: string } & DocumentNameAndKey)
	/** What the next run would do. `report` is unset for a document that is missing from the source. */
	| ({
			outcome: 'planned';
			plan: PlannedStanding;
			report?: DocumentReport;
			id: string;
	  } & DocumentNameAndKey);
