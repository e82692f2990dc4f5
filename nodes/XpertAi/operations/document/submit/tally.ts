import { mapValues, pick } from 'lodash';
import type { IDataObject } from 'n8n-workflow';

import type { ItemError } from '../../../execution/apiError';
import { toItemJson } from '../../../execution/outputs';
import type { DocumentFact } from '../../../ingest/facts';
import type { ReadyDocument } from '../../../ingest/readyDocuments';
import { type LastProcessingState, lastStateOf, unfindableReason } from '../../../ingest/statuses';
import type { Failure } from '../../../transport/failure';
import { affectsAll, documentsError, withPlainReason } from './documentErrors';
import {
	type DocumentReport,
	OUTCOME_WORDS,
	type OutcomeName,
	PLAN_WORDS,
	type SubmitFact,
} from './documentReport';
import type { SubmitSettings } from './settings';
import type { InputDocument } from './sources/inputDocument';

/** Makes an empty tally for the reports of a run. */
export const newTally = () => ({
	/** Number of documents, in total and by outcome. */
	counts: { documents: 0, ...mapValues(OUTCOME_WORDS, () => 0) },
	/** Number of documents by planned action, such as `changed`. */
	plans: mapValues(PLAN_WORDS, () => 0),
	requests: { attempts: 0, batches: 0, retries: 0 },
	/** Documents that failed to be read, stored or processed, with the reason. At most MAX_FAILED_LISTED. */
	failed: [] as Array<
		Pick<DocumentReport, 'name' | 'outcome' | 'key' | 'id'> & { reason: string; status?: number }
	>,
	/** Number of stored documents that assistants cannot find, e.g. after a failed processing (see `unfindableReason`). */
	processingFailed: 0,
	/** All documents of the run. Empty with Output = Summary. */
	reports: [] as DocumentReport[],
	/**
	 * Output of the documents that were disabled (in a dry run: would be), because they are missing from the source.
	 * Empty with Output = Summary.
	 */
	goneOutputs: [] as IDataObject[],
	/** Errors about whole sources. */
	sourceErrors: [] as ItemError[],
	/** Hints for the user, each once, with the number of documents to write before it. 0: no number is written. */
	hints: new Map<string, number>(),
	/** The names of the sources that a hint is about. */
	hintSources: new Map<string, Set<string>>(),
	/** Documents that a later document of the run replaces, with the first few names. */
	replaced: { count: 0, names: [] as string[] },
	/** The columns that match no field of a document, with Map Automatically. */
	unusedColumns: new Set<string>(),
	/** For each state (see `InputDocument`), the keys of "Metadata Rows" that had it in at least one document. */
	metadataRowKeys: {
		empty: new Set<string>(),
		lacking: new Set<string>(),
		filled: new Set<string>(),
	},
	/** How often each case of `INPUT_HINTS` occurred. */
	inputHints: mapValues(INPUT_HINTS, () => 0),
});

/** Input that the node accepts, but reports in a hint. */
export const INPUT_HINTS = {
	filesWithoutRecords: { what: 'Files of records that held none', meaning: '' },
	withoutStableId: {
		what: 'Documents without an ID',
		meaning: ' A second run stores them again. A Document Key prevents that.',
	},
	withPartIds: {
		what: 'Documents whose pages or chunks have IDs',
		meaning: ' On Xpert, one that changes is lost.',
	},
	pagesBesideFile: {
		what: 'Documents with pages beside an address',
		meaning: ' The pages are not read.',
	},
	filePath: {
		what: 'Documents with a File Path',
		meaning: ' The server looks for it on its own disk.',
	},
	missingMetadata: {
		what: 'Values of Metadata or Metadata Rows whose expression, or a part, gave nothing',
		meaning: ' Left out: filters miss them.',
	},
	hadNul: {
		what: 'Documents with characters that cannot be stored (U+0000)',
		meaning: ' They were left out.',
	},
} satisfies Record<string, Record<'what' | 'meaning', string>>;

export type Tally = ReturnType<typeof newTally>;

const MAX_FAILED_LISTED = 1000;

/** Maximum number of names in the hint about replaced documents. */
const MAX_REPLACED_NAMED = 3;

/** Counts the `INPUT_HINTS` that apply to a document. */
function countInputHints(
	{ inputHints }: Tally,
	{ lacksStableId, report, record }: ReadyDocument<DocumentReport>,
): void {
	const { filePath, fileUrl, pages, chunks } = record;
	const parts = [...(pages ?? []), ...(chunks ?? [])];
	if (report.hadNul) inputHints.hadNul += 1;
	if (lacksStableId) inputHints.withoutStableId += 1;
	if (parts.some(({ id }) => id)) inputHints.withPartIds += 1;
	if (fileUrl && parts.length > 0) inputHints.pagesBesideFile += 1;
	if (filePath && !fileUrl) inputHints.filePath += 1;
}

/** Adds the keys of the "Metadata Rows" of a document. */
export function addRowKeys(
	{ metadataRowKeys }: Tally,
	keys: InputDocument['metadataRowKeys'],
): void {
	for (const [state, names] of Object.entries(keys ?? {}))
		for (const name of names) metadataRowKeys[state as keyof typeof metadataRowKeys].add(name);
}

/** Whether a document is on the server and not disabled. The outcomes `disabled` and `replaced` stay as they are. */
function isOnServer(outcome?: OutcomeName): outcome is 'found' | 'stored' | 'unchanged' {
	return outcome === 'found' || outcome === 'stored' || outcome === 'unchanged';
}

/** Sets and counts the outcome of a document. */
function setAndCountOutcome({ counts }: Tally, report: DocumentReport, outcome: OutcomeName): void {
	report.outcome = report.isReplacedByLater && isOnServer(outcome) ? 'replaced' : outcome;
	counts.documents += 1;
	counts[report.outcome] += 1;
}

/** Moves a document from one count to another. Updates `report`. */
function moveCount(
	{ counts }: Tally,
	from: OutcomeName,
	to: OutcomeName,
	report?: DocumentReport,
): void {
	counts[from] -= 1;
	counts[to] += 1;
	if (report) report.outcome = to;
}

/** The settings that decide what the tally keeps of a document. */
type TallySettings = Pick<SubmitSettings, 'output' | 'simplify'>;

/**
 * Adds a fact to the tally.
 *
 * @returns the document, if it could not be read, uploaded or stored. A failed processing is only counted: it ends the
 * run later (see `Submission.failsAtEnd`).
 */
export function addFact(
	tally: Tally,
	fact: SubmitFact,
	settings: TallySettings,
): DocumentReport | undefined {
	const { counts, inputHints, goneOutputs, reports, plans, requests } = tally;
	const isListed = settings.output !== 'summary';
	switch (fact.outcome) {
		case 'read':
			if (isListed) reports.push(fact.report);
			for (const column of fact.unusedColumns ?? []) tally.unusedColumns.add(column);
			return undefined;
		case 'noRecords':
			inputHints.filesWithoutRecords += 1;
			return undefined;
		case 'uploaded':
			inputHints.hadNul += Number(fact.hadNul ?? false);
			return undefined;
		case 'sent':
			for (const name of ['attempts', 'batches', 'retries'] as const)
				requests[name] += fact.counts[name];
			return undefined;
		case 'processed':
			addProcessingState(tally, fact.id, fact.lastProcessingState, fact.report);
			return undefined;
		case 'replaced':
			addReplaced(tally, fact.report);
			return undefined;
		case 'disabled':
			counts.disabled += 1;
			if (isListed) goneOutputs.push(pick(fact, 'name', 'outcome', 'key', 'id'));
			return undefined;
		case 'planned':
			plans[fact.plan] += 1;
			if (fact.report) fact.report.plan = fact.plan;
			else if (isListed) goneOutputs.push(pick(fact, 'name', 'key', 'id', 'plan'));
			return undefined;
		case 'unreadable': {
			const { report } = fact.document;
			setAndCountOutcome(tally, report, 'rejected');
			return addFailure(tally, report, report.item.asError(fact.error));
		}
		default:
			return addOutcome(tally, fact, settings);
	}
}

/** Records that a later document of the run replaces a document. */
function addReplaced(tally: Tally, report: DocumentReport): void {
	const { replaced } = tally;
	const { name, key, id = '' } = report;
	replaced.count += 1;
	if (replaced.names.length < MAX_REPLACED_NAMED) replaced.names.push(name ?? key ?? id);
	report.isReplacedByLater = true;
	if (isOnServer(report.outcome)) moveCount(tally, report.outcome, 'replaced', report);
}

/**
 * Adds the outcome of a readable document to the tally and to the report of the document.
 *
 * @returns the report, if the upload or the storing failed
 */
function addOutcome(
	tally: Tally,
	fact: Exclude<DocumentFact<DocumentReport>, { outcome: 'unreadable' }>,
	settings: TallySettings,
): DocumentReport | undefined {
	const { document, outcome } = fact;
	const { report, record } = document;
	const isDisabled = outcome === 'stored' && record.disabled === true;
	setAndCountOutcome(tally, report, isDisabled ? 'disabled' : outcome);
	if (outcome === 'stored' || outcome === 'unknown') countInputHints(tally, document);
	switch (fact.outcome) {
		case 'stored': {
			const stored = toItemJson(fact.record);
			report.storedRecord = settings.simplify ? { id: stored.id, name: stored.name } : stored;
			report.sendInfo = pick(fact, 'status', 'attempts', 'batch');
			return undefined;
		}
		case 'unchanged':
			report.lastProcessingState = fact.status && lastStateOf(fact.status);
			return undefined;
		default:
			if (fact.failure) return addRequestFailure(tally, fact);
			report.notSentReason = fact.reason;
			return undefined;
	}
}

/** Records why the request to upload or to store a document failed. */
function addRequestFailure(
	tally: Tally,
	{ document, failure: given, attempts, batch }: FailedDocumentFact,
): DocumentReport {
	const { isUploaded, report, record } = document;
	const failure = withPlainReason(document, given);
	report.sendInfo = { status: failure.status, attempts, batch };
	// Only a file ID that the user gave can be wrong.
	const fileId = isUploaded ? undefined : record.storageFileId;
	report.affectsAll = affectsAll(failure, fileId);
	const ids = fileId ? [{ label: '"Storage File ID"', id: fileId }] : [];
	return addFailure(tally, report, documentsError(report.item, failure, ids));
}

type FailedDocumentFact = Extract<DocumentFact<DocumentReport>, { failure: Failure }>;

/**
 * Adds the processing state of a stored document to the tally.
 *
 * @param report unset if this run has stored the document, but no longer has its report (see `SubmitFact`)
 */
function addProcessingState(
	tally: Tally,
	id: string,
	lastState: LastProcessingState,
	report?: DocumentReport,
): void {
	if (lastState.state === 'finish' && (!report || report.outcome === 'stored'))
		moveCount(tally, 'stored', 'found', report);
	if (report && isOnServer(report.outcome)) report.lastProcessingState = lastState;
	const reason = unfindableReason(lastState);
	if (reason === undefined) return;
	tally.processingFailed += 1;
	addToFailed(tally, { ...pick(report, 'name', 'key'), id, outcome: 'stored', reason });
}

/**
 * Records the error of a document.
 *
 * @returns the document
 */
function addFailure(tally: Tally, report: DocumentReport, error: ItemError): DocumentReport {
	report.error = error;
	const status = report.sendInfo?.status;
	addToFailed(tally, {
		...pick(report, 'name', 'outcome', 'key', 'id'),
		reason: error.message,
		status,
	});
	return report;
}

function addToFailed({ failed }: Tally, document: Tally['failed'][number]): void {
	if (failed.length < MAX_FAILED_LISTED) failed.push(document);
}
