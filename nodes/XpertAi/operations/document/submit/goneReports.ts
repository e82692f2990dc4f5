import { compact, groupBy } from 'lodash';

import { isParameterFilled } from '../../../execution/givenValues';
import { shownValue } from '../../../execution/issueText';
import type { Item } from '../../../execution/item';
import { outermostMode } from '../../../execution/n8nExecution';
import type { DocumentNameAndKey, SourceMemory } from '../../../ingest/memory';
import { mayDisableInExecution, percentRoundedUp } from './disablingLimits';
import type { SourceContents } from './sourceContents';
import type { SourceRun } from './sourceRun';
import type { Submission } from './submission';
import { countWithNoun } from '../textHelpers';

/** Maximum number of documents that a message names as examples. */
const MAX_EXAMPLES = 3;

/** Maximum number of missing documents whose names are compared with those of this run. */
const MAX_COMPARED = 100;

const shareInWords = (missing: string[], { knownCountBefore }: SourceMemory) =>
	`${missing.length} of ${countWithNoun(knownCountBefore, 'document')} are missing from this run`;

/**
 * Adds hints about what a scheduled run would do with the missing documents, also if it would disable none because too
 * many are missing. Adds none if no document is missing or to be disabled.
 */
export async function addScheduledRunHint(
	sourceRun: SourceRun,
	memory: SourceMemory,
	{ missing, toDisable, isTooMany }: { missing: string[]; toDisable: string[]; isTooMany: boolean },
): Promise<void> {
	const { submission } = sourceRun;
	const { first, settings } = submission;
	if (missing.length === 0 && toDisable.length === 0) return;
	const plan = isTooMany
		? `disable none: more than ${settings.maxGonePercent} %`
		: `disable ${missing.length > 0 ? 'them' : countWithNoun(toDisable.length, 'document')}`;
	// `missing` leaves out the documents in `known.rebuilt`. They are disabled all the same.
	const share = missing.length > 0 ? `${shareInWords(missing, memory)}. ` : '';
	submission.addHint(`${share}A scheduled run would ${plan}.`);
	if (isTooMany) submission.addHint(await tooManyAdvice(sourceRun, memory, missing));
	else if (outermostMode(first.context) === 'manual')
		submission.addHint(
			`A run by hand does so with the option "${first.labelOf('options.disableInManualRuns')}".`,
		);
}

/** Records the error that more documents are missing than `maxGonePercent` allows. In a dry run, adds a hint. */
export async function reportTooMany(
	sourceRun: SourceRun,
	memory: SourceMemory,
	missing: string[],
): Promise<void> {
	const { submission } = sourceRun;
	const { first, settings } = submission;
	const { dryRun, maxGonePercent } = settings;
	const label = `"${first.labelOf('options.maxGonePercent')}"`;
	const tooMany = `${shareInWords(missing, memory)}, more than ${label} allows (${maxGonePercent})`;
	if (dryRun)
		return submission.addHint(
			`The next run would fail: ${tooMany}.`,
			otherNodeAdvice(submission, 'them'),
		);
	const advice = await tooManyAdvice(sourceRun, memory, missing);
	submission.addSourceError(first.operationError(`Nothing was disabled: ${tooMany}`, advice));
}

/** What to do if too many documents are missing: names some of them, or the keys that are made otherwise. */
async function tooManyAdvice(
	{ contents, submission }: SourceRun,
	memory: SourceMemory,
	missing: string[],
): Promise<string> {
	const { first } = submission;
	const label = `"${first.labelOf('options.maxGonePercent')}"`;
	const percent = percentRoundedUp(missing.length, memory.knownCountBefore);
	const stored = allStoredSentence(submission);
	const otherKeys = await otherKeysText(first, contents, memory, missing);
	if (otherKeys)
		return `${stored}${otherKeys} If it is right now, also after a correction, set ${label} to ${percent} for one scheduled run, which disables the copies under the other keys. ${otherNodeAdvice(submission, 'the others')}`;
	const examples = await examplesText(missing, memory, 'name');
	return `${stored}Missing are for example ${examples}. ${otherNodeAdvice(submission, 'them')} If they are really gone from the source, set ${label} to ${percent} for one scheduled run.`;
}

/** The name of the parameter for the keys of documents. */
const keyParameterOf = ({ node }: Item) =>
	node.parameters.documentKeyField ? 'documentKeyField' : 'documentKey';

/**
 * Looks for missing documents whose names came in this run under other keys. If that holds for most of them, the keys are
 * probably made otherwise than before, so each document is stored twice. Compares only names that occur once.
 *
 * @returns sentences with an example and the advice; undefined if it does not hold
 */
async function otherKeysText(
	first: Item,
	{ reports, seen }: SourceContents,
	{ names }: SourceMemory,
	missing: string[],
): Promise<string | undefined> {
	const compared = missing.slice(0, MAX_COMPARED);
	const keysBefore = keysByUniqueName(await names.of(compared));
	if (keysBefore.size * 2 <= compared.length) return undefined;
	// With Output = Summary, `reports` lacks most documents of this run. In Find Changes, reports have no names.
	const sameNames = await names.findByNames(new Set(keysBefore.keys()));
	const came = [...sameNames].filter(([id]) => seen.has(id));
	const named = [...reports].filter(([, { name }]) => name !== undefined);
	const keysNow = keysByUniqueName(new Map([...came, ...named]));
	// The two keys of a name always differ: with its old key, the document would have its old ID, and not be missing.
	const both = [...keysBefore].filter(([name]) => keysNow.has(name));
	const [[name, before] = []] = both;
	if (name === undefined || both.length * 2 <= compared.length) return undefined;
	return `${shownValue(name)} is missing under the key ${shownValue(before)}, and came under ${shownValue(keysNow.get(name))}. Where keys are made otherwise than in an earlier run, documents are stored twice: correct "${first.labelOf(keyParameterOf(first))}" if it is wrong now.`;
}

/**
 * Returns the keys of documents by name. Leaves out names that several documents have, and documents without a key. In the
 * memory, each document with a key has a name.
 */
function keysByUniqueName(documents: Map<string, DocumentNameAndKey>): Map<string, string> {
	const groups = Object.entries(groupBy([...documents.values()], 'name'));
	const unique = groups.flatMap(([name, [one, ...others]]) =>
		one?.key === undefined || others.length > 0 ? [] : [[name, one.key] as const],
	);
	return new Map(unique);
}

/**
 * Returns advice for the case that another node brings the missing documents. For Find Changes, this can only be
 * another Find Changes, because the Submit node behind this node must keep the same source.
 */
function otherNodeAdvice({ first, isFindChanges }: Submission, what: string): string {
	const label = first.labelOf(
		isParameterFilled(first.node, 'options.shard') ? 'options.shard' : 'sourceName',
	);
	return isFindChanges
		? `If another Find Changes lists ${what}, give each one, and the Submit behind it, a "${label}" of its own.`
		: `If another node brings ${what}, give each node a "${label}" of its own.`;
}

const allStoredSentence = ({ isFindChanges }: Submission) =>
	isFindChanges ? '' : 'All that came is stored. ';

/** Names some documents that earlier runs stored, by their names or keys, or else by their IDs. */
async function examplesText(ids: string[], { names }: SourceMemory, by: 'name' | 'key') {
	const some = ids.slice(0, MAX_EXAMPLES);
	const known = await names.of(some);
	const examples = some.map((id) => known.get(id)?.[by] ?? id);
	return examples.sort().join(', ');
}

/**
 * Records the error that no document of this run was known before: its keys are probably made otherwise. A dry run, or
 * a run that disables nothing in its mode, adds hints instead. Suggests no higher `maxGonePercent`, because that would
 * disable all documents of the source.
 */
export async function reportOtherKeys(
	{ contents, submission }: SourceRun,
	memory: SourceMemory,
	missing: string[],
): Promise<void> {
	const { first, settings } = submission;
	const known = countWithNoun(memory.knownCountBefore, 'known document');
	const finding = `none of ${known} is in this run, whose keys differ from those before`;
	const field = keyParameterOf(first);
	const look = isParameterFilled(first.node, field)
		? `Compare "${first.labelOf(field)}" here, and in the other node of this source if there is one`
		: `"${first.labelOf(field)}" is empty, so names, paths, addresses or own IDs are the keys: compare them`;
	const whereToLook = `${otherNodeAdvice(submission, 'the others')} ${look}`;
	const newKeys = `Correct it if it is wrong now. If the keys are meant to be new, Document: Disable takes the old documents out, by their old keys and the same "${first.labelOf('sourceName')}".`;
	if (settings.dryRun)
		return submission.addHint(`The next run would fail: ${finding}.`, `${whereToLook}. ${newKeys}`);
	const brought = [...contents.reports.values()].slice(0, MAX_EXAMPLES);
	const now = compact(brought.map(({ key, id }) => key ?? id));
	const before = await examplesText(missing, memory, 'key');
	const examples = [`Before, for example: ${before}`, now.length > 0 && `now: ${now.join(', ')}`];
	const stored = submission.isFindChanges ? '' : 'All that came is stored beside the others. ';
	const advice = `${stored}${compact(examples).join('; ')}. ${whereToLook}, with the keys of earlier runs. ${newKeys}`;
	if (!mayDisableInExecution(submission))
		return submission.addHint(`A scheduled run would disable none: ${finding}.`, advice);
	submission.addSourceError(first.operationError(`Nothing was disabled: ${finding}`, advice));
}
