import mapValues from 'lodash/mapValues';
import pick from 'lodash/pick';
import type { IDataObject } from 'n8n-workflow';

import { asJson, type ItemError } from '../../../execution/outputs';
import type { DocumentFact, Fact, ProcessedFact } from '../../../ingest/readyDocument';
import type { DocumentName } from '../../../ingest/memory';
import type { PlannedAction } from '../../../ingest/planDocuments';
import { processingEndOf, processingFlaw } from '../../../ingest/processingStatus';
import { failureMessage } from '../../../transport/failure';
import { OUTCOMES, defined, readableFailure, type Origin, type OutcomeName } from './outcomes';
import type { SubmitSettings } from './settings';

/** Failed documents that are listed; the counts are always complete. */
const MAX_FAILED_LISTED = 1000;

/** Keys that a hint names. */
const MAX_KEYS = 2;

/** What happened in a run of Submit: in `ingest`, before it and after it. */
export type SubmitFact =
	| Exclude<Fact<Origin>, ProcessedFact>
	/** Without an origin, the document was stored by this run and is not tracked. */
	| (ProcessedFact & { origin?: Origin })
	| { outcome: 'begun'; origin: Origin; unusedColumns?: string[] }
	/** A file of records held none. */
	| { outcome: 'noRecords' }
	| { outcome: 'unreadable'; document: { origin: Origin }; error: unknown }
	/** A later document of the run has its key or ID. */
	| { outcome: 'replaced'; origin: Origin; by: string }
	/** A document that is missing from the source was disabled. */
	| ({ outcome: 'disabled'; id: string } & DocumentName)
	/** What the next run would do with a document; without an origin, it is missing from the source. */
	| ({ outcome: 'planned'; plan: PlannedAction; origin?: Origin; id: string } & DocumentName);

type OutcomeFact = Exclude<DocumentFact<Origin>, { outcome: 'unreadable' }>;

/** A document that was not stored, may not have been stored, or could not be processed. */
interface FailedDocument {
	name?: string;
	outcome: OutcomeName;
	reason: string;
	key?: string;
	id?: string;
	status?: number;
}

/** What is known of a run before its first fact: plain data. */
export const newTally = () => ({
	/** Documents by outcome. */
	counts: { documents: 0, ...mapValues(OUTCOMES, () => 0) },
	/** Documents by what the next run would do with them. */
	plans: { new: 0, changed: 0, back: 0, unchanged: 0, gone: 0 },
	requests: { attempts: 0, batches: 0, retries: 0 },
	failed: [] as FailedDocument[],
	/** Input items that were not read, because the run had ended. */
	itemsNotRead: 0,
	/** Of the rejected, those that could not be read: the server never saw them. */
	unreadable: 0,
	/** Documents that were stored but could not be processed. */
	processingFailed: 0,
	/** Whether processing could not be started or followed at all, so that nothing is known of the documents. */
	processingBroken: false,
	/** All documents, for their output; empty if only a summary is wanted. */
	origins: [] as Origin[],
	/** What is missing from the source: disabled, or to be disabled. */
	missing: [] as IDataObject[],
	/** Errors that concern no single document. */
	refusals: [] as ItemError[],
	/** Hints for the user, each once, in sentences no longer than a hint. */
	remarks: new Set<string>(),
	/** Documents that came without an ID of their own. */
	withoutId: 0,
	/** What is seldom intended, or not supported by servers, in documents that were sent. */
	doubts: {
		emptyFiles: 0,
		withoutStableId: 0,
		withPartIds: 0,
		pagesBesideFile: 0,
		filePath: 0,
		hadNul: 0,
	},
	replaced: { count: 0, keys: new Set<string>() },
	/** Columns that match no field of a document (Map Automatically). */
	unusedColumns: new Set<string>(),
});

export type Tally = ReturnType<typeof newTally>;

/** Adds a fact to a tally. @returns the document, if it failed */
export function addFact(
	tally: Tally,
	fact: SubmitFact,
	{ output, simplify }: Pick<SubmitSettings, 'output' | 'simplify'>,
): Origin | undefined {
	switch (fact.outcome) {
		case 'begun':
			if (output !== 'summary') tally.origins.push(fact.origin);
			for (const column of fact.unusedColumns ?? []) tally.unusedColumns.add(column);
			return undefined;
		case 'noRecords':
			tally.doubts.emptyFiles += 1;
			return undefined;
		case 'sent':
			for (const key of Object.keys(fact.counts) as Array<keyof Tally['requests']>)
				tally.requests[key] += fact.counts[key];
			return undefined;
		case 'unreadable': {
			const { origin } = fact.document;
			origin.error = origin.item.asError(fact.error);
			tally.unreadable += 1;
			count(tally, origin, 'rejected');
			return failed(tally, origin, origin.error.message);
		}
		case 'stored':
		case 'unchanged':
		case 'rejected':
		case 'unknown':
		case 'notSent':
			return addOutcome(tally, fact, simplify);
		case 'processed':
			addProcessed(tally, fact);
			return undefined;
		case 'replaced': {
			const { origin, by } = fact;
			origin.isReplaced = true;
			tally.replaced.count += 1;
			if (tally.replaced.keys.size < MAX_KEYS) tally.replaced.keys.add(by);
			if (isOnServer(origin.outcome)) recount(tally, origin.outcome, 'replaced', origin);
			return undefined;
		}
		case 'disabled':
			tally.counts.disabled += 1;
			if (output !== 'summary') tally.missing.push(pick(fact, 'name', 'outcome', 'key', 'id'));
			return undefined;
		case 'planned':
			tally.plans[fact.plan] += 1;
			if (fact.origin) fact.origin.plan = fact.plan;
			else if (output !== 'summary') tally.missing.push(pick(fact, 'name', 'key', 'id', 'plan'));
			return undefined;
		case 'uploaded':
			if (fact.hadNul) tally.doubts.hadNul += 1;
			return undefined;
	}
}

/** Adds the outcome of a document that could be read. */
function addOutcome(tally: Tally, fact: OutcomeFact, simplify: boolean): Origin | undefined {
	const { document, outcome } = fact;
	const { origin, isNew, record: sent } = document;
	const isDisabled = outcome === 'stored' && sent.disabled === true;
	count(tally, origin, isDisabled ? 'disabled' : outcome);
	if (isNew) tally.withoutId += 1;
	if (outcome === 'unchanged') {
		origin.end = fact.status && processingEndOf(fact.status);
		return undefined;
	}
	if (outcome === 'stored' || outcome === 'unknown') addDoubts(tally, document);
	if (outcome === 'stored') {
		const { status, attempts, batch } = fact;
		const record = asJson(fact.record);
		origin.record = simplify ? pick(record, 'id', 'name') : record;
		origin.sent = { status, attempts, batch };
		return undefined;
	}
	if (!fact.failure) {
		origin.reason = fact.reason;
		return undefined;
	}
	const failure = readableFailure(document, fact.failure);
	const { status } = failure;
	origin.failure = failure;
	origin.sent = { status, attempts: fact.attempts, batch: fact.batch };
	return failed(tally, origin, failureMessage(failure), status);
}

/** Adds the last known state of the processing of a stored document. */
function addProcessed(
	tally: Tally,
	{ id, end, origin }: ProcessedFact & { origin?: Origin },
): void {
	if (end.state === 'finish' && (!origin || origin.outcome === 'stored'))
		recount(tally, 'stored', 'found', origin);
	if (origin && isOnServer(origin.outcome)) origin.end = end;
	const flaw = processingFlaw(end);
	if (flaw === undefined) return;
	tally.processingFailed += 1;
	failed(tally, { ...origin, id, outcome: 'stored' }, flaw);
}

/** Counts what is seldom intended, or not supported by servers. */
function addDoubts({ doubts }: Tally, { isNew, origin, record }: OutcomeFact['document']): void {
	const { filePath, fileUrl, pages, chunks } = record;
	const parts = [...(pages ?? []), ...(chunks ?? [])];
	if (origin.hadNul) doubts.hadNul += 1;
	if (isNew) doubts.withoutStableId += 1;
	if (parts.some(({ id }) => id)) doubts.withPartIds += 1;
	if (fileUrl && parts.length > 0) doubts.pagesBesideFile += 1;
	if (filePath && !fileUrl) doubts.filePath += 1;
}

/** Whether a document with this outcome is on the server, where a later one can replace it. */
function isOnServer(outcome?: OutcomeName): outcome is 'found' | 'stored' | 'unchanged' {
	return outcome === 'found' || outcome === 'stored' || outcome === 'unchanged';
}

/** Counts a document, as replaced if a later one of the run replaced it. */
function count({ counts }: Tally, origin: Origin, outcome: OutcomeName): void {
	origin.outcome = origin.isReplaced && isOnServer(outcome) ? 'replaced' : outcome;
	counts.documents += 1;
	counts[origin.outcome] += 1;
}

/** Moves a document from one count to another. */
function recount({ counts }: Tally, from: OutcomeName, to: OutcomeName, origin?: Origin): void {
	counts[from] -= 1;
	counts[to] += 1;
	if (origin) origin.outcome = to;
}

/** Lists a failed document. */
function failed<Failed extends Omit<Origin, 'item'>>(
	{ failed: list }: Tally,
	document: Failed,
	reason: string,
	status?: number,
): Failed {
	const { name, outcome = 'rejected', key, id } = document;
	if (list.length < MAX_FAILED_LISTED)
		list.push({ outcome, reason, ...defined({ name, key, id, status }) });
	return document;
}
