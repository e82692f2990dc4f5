import {
	compact,
	escapeRegExp,
	find,
	isUndefined,
	omit,
	omitBy,
	pick,
	sortBy,
	sum,
	trimEnd,
	truncate,
} from 'lodash';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import type { ItemError } from '../../../execution/apiError';
import { isFilled } from '../../../execution/givenValues';
import { type OutputFormat, rawOrSelectedOutput } from '../../../execution/outputs';
import { errorToReport, processingAdvice } from './documentErrors';
import { type DocumentReport, OUTCOME_WORDS, PLAN_WORDS } from './outcomes';
import type { Submission } from './submission';
import { INPUT_HINTS, type Tally } from './tally';
import { asHint, counted, HINT_LENGTH, sentences, shortNameListText } from './textHelpers';

/** Writes counts as text, such as `Documents: 2 stored, 1 rejected`. Leaves out zeros. */
function inWords(
	counts: Record<string, number>,
	words: Record<string, string> = OUTCOME_WORDS,
): string {
	const parts = Object.entries(words).map(([name, word]) => {
		const count = counts[name];
		return count && `${count.toLocaleString('en')} ${word}`;
	});
	return `Documents: ${compact(parts).join(', ') || 'none'}`;
}

const MAY_BE_STORED = 'It is not known whether this document is stored';

const SECOND_RUN =
	'A second run replaces documents that carry a UUID as ID and stores all others again';

const CONTINUE_HINT =
	'To have the others come out all the same, set "On Error" in the settings of the node to "Continue (using error output)", and connect that output';

/** Maximum number of reasons, and of pieces of advice, in one message. */
const MAX_REASONS = 3;

const firstDistinctTexts = (texts: string[]) => [...new Set(texts)].slice(0, MAX_REASONS);

/** Choices of "Documents From" for which each item is one document. */
const ONE_DOCUMENT_CHOICES: unknown[] = ['text', 'files', 'addresses', 'fields'];

/** The output item or error item of a document. Empty for a document without an outcome or plan. */
export function documentOutputItems(
	report: DocumentReport,
	output: OutputFormat,
): INodeExecutionData[] {
	const { item, outcome, plan, lastProcessingState, storedRecord } = report;
	if (!outcome && !plan) return [];
	const facts = outputFieldsOf(report);
	const error = errorToReport(report);
	if (error) {
		if (outcome === 'unknown') error.message = `${error.message}. ${MAY_BE_STORED}`;
		return [item.failureOutput(error, facts)];
	}
	const isRaw = storedRecord && !output.simplify && outcome !== 'replaced';
	if (!isRaw) return [item.output(omitBy(facts, isUndefined))];
	const processing = lastProcessingState && pick(facts, 'processing', 'processMsg');
	return [
		item.output(rawOrSelectedOutput(output, item, { ...storedRecord, ...processing }, () => facts)),
	];
}

/** Returns the fields of the output item of a document. */
function outputFieldsOf({
	lastProcessingState,
	storedRecord,
	...report
}: DocumentReport): IDataObject {
	const { outcome, key, sendInfo, plan } = report;
	const { name = report.name, id = report.id } = storedRecord ?? {};
	// Without a `lastProcessingState`, this run has not started the processing of the stored document.
	const processing = lastProcessingState?.state ?? (storedRecord && 'none');
	return {
		name,
		outcome,
		processing,
		processMsg: lastProcessingState?.processMsg,
		key,
		id,
		...sendInfo,
		plan,
	};
}

/** The hints that the run has collected. */
function hintsInWords({ tally, sourceCount }: Submission): string[] {
	return [...tally.hints].map(([text, count]) => {
		const documents = counted(count, 'document was', 'documents were');
		if (count > 0) return asHint(`${documents} ${text}`);
		const names = tally.hintSources.get(text);
		return names && sourceCount > 1 ? `${text} Sources: ${shortNameListText([...names])}.` : text;
	});
}

/** Adds the hints of the run to an error that ends the run, because n8n shows no hints then. */
export function withHints(submission: Submission, error: ItemError): ItemError {
	const others = hintsInWords(submission).filter((text) => text !== sentences(error.message));
	error.description = sentences(error.description, ...others);
	return error;
}

/**
 * The output items. With Output = Summary, there is a single item with counts.
 *
 * @param seconds duration of the run, for the summary
 */
export function outputItems(submission: Submission, seconds = 0): INodeExecutionData[] {
	const { first, settings } = submission;
	const { counts, failed, missing, reports, plans, sourceErrors, requests } = submission.tally;
	if (settings.output !== 'summary')
		return [
			...sortBy(reports, 'item.index').flatMap((one) => documentOutputItems(one, settings)),
			...sourceErrors.map((error) => first.failureOutput(error)),
			...missing.map((json) => first.output(json)),
		];
	const { dryRun } = settings;
	const notes = [...hintsInWords(submission), ...unfindableHints(submission)];
	const json = {
		...(dryRun ? { ...plans, rejected: counts.rejected, plan: summaryLine(submission) } : counts),
		...(notes.length > 0 && { notes }),
		failed: failed as unknown as IDataObject[],
		seconds: Math.round(seconds * 1000) / 1000,
		...(!dryRun && requests),
	};
	return [{ json, pairedItem: first.context.getInputData().map((_, item) => ({ item })) }];
}

/** All hints for the user. The summary line comes first. */
export function hintsOf(submission: Submission): string[] {
	return [
		summaryLine(submission),
		...hintsInWords(submission),
		...unfindableHints(submission),
		...compact([
			...replacedHints(submission),
			...inputHintsInWords(submission.tally),
			...metadataRowHints(submission.tally),
			unusedColumnsHint(submission),
		]),
	];
}

function inputHintsInWords({ inputHints }: Tally): string[] {
	const kinds = Object.keys(INPUT_HINTS) as Array<keyof typeof INPUT_HINTS>;
	return kinds.flatMap((kind) => {
		const { what, meaning } = INPUT_HINTS[kind];
		return inputHints[kind] > 0 ? `${what}: ${inputHints[kind]}.${meaning}` : [];
	});
}

/** Names the rows of Metadata whose expression is probably wrong: it lacks a part, or gave no document a value. */
function metadataRowHints({ metadataRowKeys: { empty, filled, lacking } }: Tally): string[] {
	const unfilled = [...empty].filter((key) => !filled.has(key));
	return compact([
		lacking.size > 0 &&
			`Correct the expressions of these Metadata Rows: ${shortNameListText([...lacking])}.`,
		unfilled.length > 0 &&
			`Metadata Rows without a value in any item: ${shortNameListText(unfilled)}. Correct them, or filters miss them.`,
	]);
}

/** Names the columns that match no field. Leaves out columns that an expression of the node uses. */
function unusedColumnsHint({ first, tally }: Submission): string | undefined {
	const { unusedColumns } = tally;
	if (unusedColumns.size === 0) return undefined;
	const parameters = JSON.stringify(first.node.parameters);
	// Matches `$json.name`, `$json?.name` and `$json["name"]`, whose quotes are escaped here.
	const used = (name: string) =>
		new RegExp(`json\\W{1,5}${escapeRegExp(name)}(?![\\p{L}\\p{N}_])`, 'u');
	const names = [...unusedColumns].filter((name) => !used(name).test(parameters));
	if (names.length === 0) return undefined;
	const hint = `Columns that match no field of a document: ${names.join(', ')}`;
	return truncate(hint, { length: HINT_LENGTH, separator: ', ' });
}

/** Hints about documents that a later document of the run replaces. */
function replacedHints({ first, tally }: Submission): string[] {
	const { count: replaced, names } = tally.replaced;
	if (replaced === 0) return [];
	const source = String(first.node.parameters.source);
	const hasKeyField = ['json', 'records'].includes(source);
	const where = hasKeyField
		? `in the field that "${first.labelOf('documentKeyField')}" names`
		: `by "${first.labelOf('documentKey')}"`;
	const isNameKey = ['text', 'addresses'].includes(source) && !isFilled(first.node, 'documentKey');
	const documents = counted(replaced, 'document has', 'documents have');
	const them = replaced === 1 ? 'it' : 'them';
	const hint = `${documents} the key or ID of a later one, which replaces ${them}: ${names.join(', ')}`;
	return [
		asHint(hint),
		`${isNameKey ? 'Without a key, the name or address is the key. ' : ''}To keep all, give each a key of its own ${where}: a path, address or row ID, not a title.`,
	];
}

/** The summary line: what this run did, what it found (Find Changes), or what the next run would do (dry run). */
function summaryLine({ isFindChanges, settings, tally }: Submission): string {
	const { counts, plans, requests } = tally;
	const { disabled, rejected } = OUTCOME_WORDS;
	if (isFindChanges)
		return `${inWords({ ...counts, ...plans }, { ...PLAN_WORDS, disabled, rejected })}.`;
	if (settings.dryRun) {
		const sent = `send ${plans.new} new, ${plans.changed} changed, ${plans.back} back again`;
		const refused = counts.rejected > 0 ? `, refuse ${counts.rejected}` : '';
		return `The next run would ${sent}, leave out ${plans.unchanged}, disable ${plans.gone}${refused}.`;
	}
	const { batches, retries } = requests;
	const tried = retries > 0 ? `, ${counted(retries, 'request')} tried again` : '';
	const sent = batches > 0 ? ` (${counted(batches, 'batch', 'batches')}${tried})` : '';
	return `${inWords(counts)}${sent}.`;
}

/** How far the run is. The number of all documents is known only if each item is one document. */
export function submissionProgress({ first, isFindChanges, settings, tally }: Submission): string {
	const { counts, plans } = tally;
	const isOneEach = isFindChanges || ONE_DOCUMENT_CHOICES.includes(first.node.parameters.source);
	const inFull = (count: number) => count.toLocaleString('en');
	const all = isOneEach ? ` of ${inFull(first.context.getInputData().length)}` : '';
	if (isFindChanges || settings.dryRun)
		return `${inFull(counts.documents + sum(Object.values(omit(plans, 'gone'))))}${all} compared`;
	const stored = counts.found + counts.stored;
	return `${inFull(counts.documents)}${all} done, ${inFull(stored)} stored, ${inFull(counts.found)} found`;
}

function processingFailedInWords({ tally }: Submission): string {
	const { processingFailed } = tally;
	return `${counted(processingFailed, 'document is', 'documents are')} stored but not found`;
}

/** The hint about stored documents that assistants cannot find. May name the cause for one document. */
function unfindableHints(submission: Submission): string[] {
	const { counts, failed, processingFailed } = submission.tally;
	if (processingFailed === 0) return [];
	// If documents were not sent, `addEndHints` may already have added a hint with the same cause.
	const first = counts.notSent > 0 ? undefined : find(failed, { outcome: 'stored' });
	return [asHint(sentences(processingFailedInWords(submission), first?.reason))];
}

/** The error that ends a run after a document failed. Adds facts about the run to the error of the document. */
export function stopError(submission: Submission, stopped: DocumentReport): ItemError {
	const { counts, inputHints, failed } = submission.tally;
	const { item } = stopped;
	const error = errorToReport(stopped) ?? item.operationError('A document was not stored');
	// `failed` also has stored documents whose processing failed. They are left out here.
	const names = failed.flatMap(({ name, outcome }) => {
		if (name === undefined || outcome === 'stored') return [];
		return outcome === 'unknown' ? `${name} (stored or not)` : name;
	});
	const reasons = failed.flatMap((one) => (one.outcome === 'stored' ? [] : one.reason));
	const hasOthers = item.context.getInputData().length > 1 || counts.documents > 1;
	const unread =
		submission.itemsNotRead > 0 && `, ${counted(submission.itemsNotRead, 'item')} not read`;
	error.message = trimEnd(sentences(error.message, `${inWords(counts)}${unread || ''}`), '.');
	error.description = sentences(
		error.description,
		names.length > 0 && `Failed: ${shortNameListText(names)}`,
		new Set(reasons).size > 1 && `Reasons: ${firstDistinctTexts(reasons).join('; ')}`,
		...hintsInWords(submission),
		inputHints.withoutStableId > 0 && SECOND_RUN,
		hasOthers && !stopped.affectsAll && CONTINUE_HINT,
	);
	return error;
}

/** The error that ends a run if the server could not process stored documents. */
export function processingError(submission: Submission): ItemError {
	const failed = submission.tally.failed.filter(({ outcome }) => outcome === 'stored');
	const names = failed.map(({ name, id = 'one without a name' }) => name ?? id);
	return submission.first.operationError(
		`${processingFailedInWords(submission)}: ${shortNameListText(names)}`,
		sentences(
			...firstDistinctTexts(failed.map(({ reason }) => reason)),
			...firstDistinctTexts(failed.map(({ reason, name }) => processingAdvice(reason, name))),
			...hintsInWords(submission),
			inWords(submission.tally.counts),
			submission.tally.processingFailed < submission.tally.counts.documents && CONTINUE_HINT,
		),
	);
}
