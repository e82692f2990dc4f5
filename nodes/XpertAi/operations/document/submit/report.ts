import compact from 'lodash/compact';
import escapeRegExp from 'lodash/escapeRegExp';
import sortBy from 'lodash/sortBy';
import trimEnd from 'lodash/trimEnd';
import truncate from 'lodash/truncate';
import uniq from 'lodash/uniq';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import type { Item } from '../../../execution/item';
import type { ItemError } from '../../../execution/outputs';
import { OUTCOMES, documentItem, errorOf, processingAdvice } from './outcomes';
import type { Origin, OutcomeName } from './outcomes';
import type { SubmitSettings } from './settings';
import type { Tally } from './tally';
import { counted, sentences } from './wording';

/* What a run shows of its tally. */

/** Documents that an error names. */
const MAX_NAMED = 10;

/**
 * The output: an item for each document in the order of the input, or one for Output = Summary.
 *
 * @param first the item that output without a document is paired with
 * @param seconds the duration of the execution
 */
export function outputOf(
	tally: Tally,
	first: Item,
	settings: SubmitSettings,
	seconds: number,
): INodeExecutionData[] {
	const { counts, failed, missing, origins, plans, refusals, requests } = tally;
	if (settings.output !== 'summary')
		return [
			...sortBy(origins, ({ item }) => item.index).flatMap((one) => documentItem(one, settings)),
			...refusals.map((error) => first.failed(error)),
			...missing.map((json) => first.output(json)),
		];
	const { dryRun } = settings;
	const notes = [...tally.remarks, ...notFoundNote(tally)];
	const json: IDataObject = {
		...(dryRun ? { ...plans, rejected: counts.rejected, plan: lineOf(tally, settings) } : counts),
		...(notes.length > 0 && { notes }),
		failed: failed as unknown as IDataObject[],
		seconds: Math.round(seconds * 1000) / 1000,
		...(!dryRun && requests),
	};
	return [{ json, pairedItem: first.context.getInputData().map((_, item) => ({ item })) }];
}

/** How far a run is. How many documents there are is known only if each item is one. */
export function progressOf({ counts }: Tally, total?: number): string {
	const inFull = (count: number) => count.toLocaleString('en-US');
	const of = total === undefined ? '' : ` of ${inFull(total)}`;
	const { documents, found, stored } = counts;
	return `${inFull(documents)}${of} done, ${inFull(found + stored)} stored, ${inFull(found)} found`;
}

/** What the user should know: the run in one line, what went wrong, and what is seldom intended. */
export function hintsOf(
	tally: Tally,
	first: Item,
	settings: SubmitSettings,
	line = lineOf(tally, settings),
): string[] {
	const { doubts, replaced } = tally;
	const unused = unusedColumns(tally, first);
	return compact<string>([
		line,
		...tally.remarks,
		...notFoundNote(tally),
		replaced.count > 0
			? `${counted(replaced.count, 'document')} came with the key or ID of an earlier one and replaced it: ${shortened([...replaced.keys], MAX_KEYS_LENGTH)}`
			: undefined,
		...Object.entries(doubts).map(([kind, count]) => {
			const [one, many, doubt] = DOUBTS[kind as keyof Tally['doubts']];
			return count > 0 ? `${counted(count, one, many)} ${doubt}` : undefined;
		}),
		unused.length > 0
			? `Columns that match no field of a document: ${shortened(unused, MAX_COLUMNS_LENGTH)}`
			: undefined,
	]);
}

/**
 * The error with Stop: that of a document, with how many are stored, which are not, and what a second run would do.
 *
 * @param waiting documents that were read and had no turn
 */
export function stopError(tally: Tally, stopped: Origin, waiting = 0): ItemError {
	const { counts, itemsNotRead, unreadable } = tally;
	const { found, stored, rejected, unknown } = counts;
	const error = errorOf(stopped) ?? stopped.item.operationError('A document was not stored');
	const unread = itemsNotRead > 0 ? `, ${counted(itemsNotRead, 'item')} not read` : '';
	// The server has never seen what could not be read.
	const notSent = counts.notSent + waiting + unreadable;
	const inAll = inWords({ ...counts, rejected: rejected - unreadable, notSent });
	const failed = tally.failed.filter(({ outcome }) => outcome !== 'stored');
	const namesOf = (isUnknown: boolean) =>
		someNames(
			failed.flatMap(({ name, outcome }) =>
				name !== undefined && (outcome === 'unknown') === isUnknown ? name : [],
			),
		);
	const [names, unknownNames] = [namesOf(false), namesOf(true)];
	const reasons = reasonsOf(failed);
	error.message = trimEnd(sentences(error.message, `${inAll}${unread}`), '.');
	error.description = sentences(
		error.description ?? undefined,
		names && `Not stored: ${names}`,
		unknownNames && `Stored or not: ${unknownNames}`,
		reasons.length > 1 ? `Reasons: ${reasons.join('; ')}` : undefined,
		found + stored + unknown > 0 ? SECOND_RUN : undefined,
	);
	return error;
}

/** The error, with Stop, of documents that could not be processed. They stay stored. */
export function processingError(tally: Tally, first: Item): ItemError {
	const failed = tally.failed.filter(({ outcome }) => outcome === 'stored');
	const reasons = reasonsOf(failed);
	const names = someNames(failed.map(({ name, id = 'one without a name' }) => name ?? id));
	return first.operationError(
		`${notFound(tally)}: ${names}`,
		sentences(
			...reasons,
			...uniq(reasons.map((reason) => processingAdvice(reason))),
			...tally.remarks,
			inWords(tally.counts),
			CONTINUE_HINT,
		),
	);
}

const SECOND_RUN =
	'A second run replaces documents that carry a UUID as ID and stores all others again';

const CONTINUE_HINT =
	'To have the others come out all the same, set "On Error" in the settings of the node to "Continue (using error output)"';

const DOCUMENTS = ['document has', 'documents have'] as const;

/** What is seldom intended, or not supported by servers. */
const DOUBTS = {
	emptyFiles: ['file', 'files', 'of records held none.'],
	withoutStableId: [
		...DOCUMENTS,
		'no ID: a second run stores them again. A Document Key prevents that.',
	],
	withPartIds: [...DOCUMENTS, 'pages or chunks with IDs: on Xpert, one that changes is lost.'],
	pagesBesideFile: [...DOCUMENTS, 'pages beside an address: the pages are not read.'],
	filePath: [...DOCUMENTS, 'a File Path: the server looks for it on its own disk.'],
	hadNul: [...DOCUMENTS, 'characters that cannot be stored (U+0000): they were left out.'],
} as const satisfies Record<keyof Tally['doubts'], unknown>;

/** Characters of a hint that name keys or columns. */
const MAX_KEYS_LENGTH = 40;
const MAX_COLUMNS_LENGTH = 70;

/** The run in one line; for a dry run, what the next run would do. */
function lineOf({ counts, plans, requests }: Tally, { dryRun }: SubmitSettings): string {
	if (dryRun) {
		const sent = `send ${plans.new} new, ${plans.changed} changed, ${plans.back} back again`;
		const refused = counts.rejected > 0 ? `, refuse ${counts.rejected}` : '';
		return `The next run would ${sent}, leave out ${plans.unchanged}, disable ${plans.gone}${refused}.`;
	}
	const { batches, retries } = requests;
	const tried = retries > 0 ? `, ${counted(retries, 'request')} tried again` : '';
	const sent = batches > 0 ? ` (${counted(batches, 'batch', 'batches')}${tried})` : '';
	return `${inWords(counts)}${sent}.`;
}

const notFound = ({ processingFailed }: Tally) =>
	`${counted(processingFailed, 'document is', 'documents are')} stored but not found`;

const notFoundNote = (tally: Tally) =>
	tally.processingFailed > 0 ? [`${notFound(tally)}: not processed.`] : [];

/** Columns that were not mapped, without those that an expression of the node uses. */
function unusedColumns({ unusedColumns: names }: Tally, { context }: Item): string[] {
	if (names.size === 0) return [];
	const parameters = JSON.stringify(context.getNode().parameters);
	return [...names].filter(
		(name) => !new RegExp(`json(\\.|\\[\\W{1,2})${escapeRegExp(name)}\\b`).test(parameters),
	);
}

/** The reasons of failed documents, as many as fit into a message. */
const reasonsOf = (failed: Tally['failed']) => uniq(failed.map(({ reason }) => reason)).slice(0, 3);

/** Lists names, and the number of further ones. */
function someNames(names: string[]): string {
	const more = names.length - MAX_NAMED;
	const first = names.slice(0, MAX_NAMED).join(', ');
	return more > 0 ? `${first} and ${more} more` : first;
}

/** Counts in words, without zeros. */
function inWords(counts: Record<OutcomeName, number>): string {
	const parts = Object.entries(OUTCOMES).flatMap(([outcome, words]) => {
		const count = counts[outcome as OutcomeName];
		return count > 0 ? `${count} ${words}` : [];
	});
	return `Documents: ${parts.join(', ') || 'none'}`;
}

function shortened(names: string[], length: number): string {
	return truncate(names.join(', '), { length, separator: ', ' });
}
