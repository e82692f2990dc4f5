import { compact, difference, groupBy, partition, pick, sortBy } from 'lodash';

import { isFilled } from '../../../execution/givenValues';
import { quoted } from '../../../execution/issueText';
import type { Item } from '../../../execution/item';
import { outermostMode } from '../../../execution/n8nExecution';
import type { DocumentNameAndKey, SourceMemory } from '../../../ingest/memory';
import { fetchStatuses, processingState, type ProcessingStatus } from '../../../ingest/statuses';
import { switchDocuments } from '../../../ingest/switchDocuments';
import type { Failure } from '../../../transport/failure';
import { failureMessage } from '../../../transport/failureText';
import type { SourceContents } from './sourceContents';
import { SourceRun } from './sourceRun';
import type { Submission } from './submission';
import { asHint, counted } from './textHelpers';

/** Maximum number of documents that a message names as examples. */
const MAX_EXAMPLES = 3;

/** Maximum number of missing documents whose names are compared with those of this run. */
const MAX_COMPARED = 100;

/**
 * n8n execution modes in which the node disables missing documents. In a manual execution or a retry, items may be
 * incomplete or outdated.
 */
const DISABLING_EXECUTION_MODES: unknown[] = [
	'trigger',
	'webhook',
	'chat',
	'cli',
	'error',
	'integrated',
];

/** Whether the mode of this execution lets the node disable missing documents. */
function mayDisableInExecution({ first, settings }: Submission): boolean {
	const mode = outermostMode(first.context);
	return (
		DISABLING_EXECUTION_MODES.includes(mode) || (mode === 'manual' && settings.disableInManualRuns)
	);
}

/**
 * Disables stored documents that are missing from this run, if `mirrors` is set. Only a complete run disables documents
 * (see `reasonToDisableNone`), and only in some modes (see `mayDisableInExecution`). A dry run only reports these documents.
 * If too many are missing (`maxGonePercent`), disables none and records an error.
 */
export async function disableMissing(sourceRun: SourceRun): Promise<void> {
	const { contents, memory, memoryRoutes, submission } = sourceRun;
	const { dryRun, maxGonePercent, mirrors } = submission.settings;
	if (!memory || !mirrors) return;
	const unseen = [...memory.known.ids(contents.seen)];
	if (unseen.length === 0) return;
	const reason = await reasonToDisableNone(sourceRun, memory);
	if (reason)
		return submission.addHint(`Nothing ${dryRun ? 'would be' : 'was'} disabled: ${reason}.`);
	const { statuses, failure } = await fetchStatuses(unseen, memoryRoutes, memory.requiredId);
	if (failure) return submission.addHint(notAllDisabledHint(failure));
	const { missing, switchedByHand, toDisable } = classifyUnseen(unseen, statuses, memory.known);
	submission.addCountedHint(switchedByHand.length, SWITCHED_BY_HAND);
	// Find Changes has already counted all unseen documents as gone. A dry run has counted none of them yet: there,
	// `disableInNameOrder` counts the documents to disable.
	if (!dryRun && submission.isFindChanges) submission.tally.plans.gone -= switchedByHand.length;
	const isTooMany = exceedsShare(missing.length, memory.knownCountBefore, maxGonePercent);
	// This run contains none of the known documents, so its keys are probably made otherwise than before.
	if (isTooMany && unseen.length === memory.knownCountBefore)
		return await reportOtherKeys(sourceRun, memory, missing);
	if (!dryRun && !mayDisableInExecution(submission))
		return await addScheduledRunHint(sourceRun, memory, { missing, toDisable, isTooMany });
	if (isTooMany) return await reportTooMany(sourceRun, memory, missing);
	// Forgets what was switched by hand, and what the server does not list.
	const toForget = dryRun ? [] : difference(unseen, toDisable);
	for (const id of toForget) memory.known.remove(id);
	await disableInNameOrder(sourceRun, memory, toDisable);
}

/**
 * Tells what to do with the known documents that this run did not contain.
 *
 * @returns an object:
 * - `switchedByHand`: documents on the server that are left alone.
 * - `toDisable`: the other documents on the server.
 * - `missing`: the documents that count for `maxGonePercent`: neither out already nor rebuilt. Some may not be on the
 *   server.
 */
function classifyUnseen(
	unseen: string[],
	statuses: Map<string, ProcessingStatus>,
	known: SourceMemory['known'],
) {
	// In the memory, the document is processed or needs no processing, but on the server, it has no status. So a user
	// has disabled it, enabled it again (which restores no status) or deleted it, or its record disables it.
	const isOutAlready = (id: string) =>
		known.isProcessed(id) && processingState(statuses.get(id)) === 'none';
	const onServer = unseen.filter((id) => statuses.has(id));
	const [switchedByHand, toDisable] = partition(onServer, isOutAlready);
	/** The documents that count for `maxGonePercent`. Rebuilt ones do not: they may have been disabled long ago. */
	const missing = unseen.filter((id) => !isOutAlready(id) && !known.rebuilt.has(id));
	return { switchedByHand, toDisable, missing };
}

/** Disables documents, in the order of their names. A dry run only reports them as planned. */
async function disableInNameOrder(
	{ memoryRoutes, submission }: SourceRun,
	memory: SourceMemory,
	ids: string[],
): Promise<void> {
	const names = await memory.names.of(ids);
	const byName = sortBy(ids, (id) => names.get(id)?.name);
	if (submission.settings.dryRun) {
		for (const id of byName)
			submission.add({ outcome: 'planned', plan: 'gone', ...names.get(id), id });
		return;
	}
	const isModeUnknown = outermostMode(submission.first.context) === 'integrated';
	if (isModeUnknown && ids.length > 0) submission.addHint(MODE_UNKNOWN);
	const failure = await switchDocuments(byName, {
		disabled: true,
		routes: memoryRoutes,
		fieldsOf: (id) => pick(names.get(id), 'name'),
		beforeChange: async (some) => await memory.journalDisabling(some),
		onSwitched: (id) => {
			memory.known.remove(id);
			submission.add({ outcome: 'disabled', ...names.get(id), id });
		},
	});
	if (failure) submission.addHint(notAllDisabledHint(failure));
}

/** A document that was enabled again by hand looks like a disabled one: it has no status. So it may still be found. */
const SWITCHED_BY_HAND =
	'not disabled, though gone: switched by hand. If still found, Document: Disable takes it out.';

const shareInWords = (missing: string[], { knownCountBefore }: SourceMemory) =>
	`${missing.length} of ${counted(knownCountBefore, 'document')} are missing from this run`;

/** Adds a hint about what a scheduled run would do with the missing documents, if it would do anything. */
async function addScheduledRunHint(
	sourceRun: SourceRun,
	memory: SourceMemory,
	{ missing, toDisable, isTooMany }: { missing: string[]; toDisable: string[]; isTooMany: boolean },
): Promise<void> {
	const { submission } = sourceRun;
	const { first, settings } = submission;
	if (missing.length === 0 && toDisable.length === 0) return;
	const plan = isTooMany
		? `disable none: more than ${settings.maxGonePercent} %`
		: `disable ${missing.length > 0 ? 'them' : counted(toDisable.length, 'document')}`;
	// Rebuilt documents do not count as missing. They are disabled all the same.
	const share = missing.length > 0 ? `${shareInWords(missing, memory)}. ` : '';
	submission.addHint(`${share}A scheduled run would ${plan}.`);
	if (isTooMany) submission.addHint(await tooManyAdvice(sourceRun, memory, missing));
	else if (outermostMode(first.context) === 'manual')
		submission.addHint(
			`A run by hand does so with the option "${first.labelOf('options.disableInManualRuns')}".`,
		);
}

/** Records the error that more documents are missing than `maxGonePercent` allows. In a dry run, adds a hint. */
async function reportTooMany(
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
	const percent = percentage(missing.length, memory.knownCountBefore);
	const stored = allStoredSentence(submission);
	const otherKeys = await otherKeysText(first, contents, memory, missing);
	if (otherKeys)
		return `${stored}${otherKeys} If it is right now, also after a correction, set ${label} to ${percent} for one scheduled run, which disables the copies under the other keys. ${otherNodeAdvice(submission, 'the others')}`;
	const examples = await examplesOf(missing, memory, 'name');
	return `${stored}Missing are for example ${examples}. ${otherNodeAdvice(submission, 'them')} If they are really gone from the source, set ${label} to ${percent} for one scheduled run.`;
}

/** The name of the parameter for the keys of documents. */
const keyFieldOf = ({ node }: Item) =>
	node.parameters.documentKeyField ? 'documentKeyField' : 'documentKey';

/**
 * Looks for missing documents whose names came in this run under other keys. If that holds for most of them, the keys are
 * probably made otherwise than before, so each document is stored twice. Compares only names that occur once.
 *
 * @returns sentences with an example and the advice; undefined if it does not hold
 */
async function otherKeysText(
	first: Item,
	{ reports }: SourceContents,
	{ names }: SourceMemory,
	missing: string[],
): Promise<string | undefined> {
	const compared = missing.slice(0, MAX_COMPARED);
	const known = [...(await names.of(compared)).values()];
	const [missingKeys, keysNow] = [known, [...reports.values()]].map(keysByUniqueName);
	const both = [...(missingKeys ?? [])].filter(([name]) => keysNow?.has(name));
	const [[name, before] = []] = both;
	if (name === undefined || both.length * 2 <= compared.length) return undefined;
	return `${quoted(name)} is missing under the key ${quoted(before)}, and came under ${quoted(keysNow?.get(name))}. Where keys are made otherwise than in an earlier run, documents are stored twice: correct "${first.labelOf(keyFieldOf(first))}" if it is wrong now.`;
}

/** Returns the keys of documents by name, without the names that several documents have. */
function keysByUniqueName(documents: DocumentNameAndKey[]): Map<string, string> {
	const groups = Object.entries(groupBy(documents, 'name'));
	const unique = groups.flatMap(([name, [one, ...others]]) =>
		one?.key === undefined || others.length > 0 ? [] : [[name, one.key] as const],
	);
	return new Map(unique);
}

/** The Submit node behind Find Changes must keep the same source, so there only another Find Changes is meant. */
function otherNodeAdvice({ first, isFindChanges }: Submission, what: string): string {
	const label = first.labelOf(
		isFilled(first.node, 'options.shard') ? 'options.shard' : 'sourceName',
	);
	return isFindChanges
		? `If another Find Changes lists ${what}, give each one, and the Submit behind it, a "${label}" of its own.`
		: `If another node brings ${what}, give each node a "${label}" of its own.`;
}

const allStoredSentence = ({ isFindChanges }: Submission) =>
	isFindChanges ? '' : 'All that came is stored. ';

/** Names some documents that earlier runs stored, by their names or keys, or else by their IDs. */
async function examplesOf(ids: string[], { names }: SourceMemory, by: 'name' | 'key') {
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
async function reportOtherKeys(
	{ contents, submission }: SourceRun,
	memory: SourceMemory,
	missing: string[],
): Promise<void> {
	const { first, settings } = submission;
	const known = counted(memory.knownCountBefore, 'known document');
	const finding = `none of ${known} is in this run, whose keys differ from those before`;
	const field = keyFieldOf(first);
	const look = isFilled(first.node, field)
		? `Compare "${first.labelOf(field)}" here, and in the other node of this source if there is one`
		: `"${first.labelOf(field)}" is empty, so names, paths, addresses or own IDs are the keys: compare them`;
	const whereToLook = `${otherNodeAdvice(submission, 'the others')} ${look}`;
	const newKeys = `Correct it if it is wrong now. If the keys are meant to be new, Document: Disable takes the old documents out, by their old keys and the same "${first.labelOf('sourceName')}".`;
	if (settings.dryRun)
		return submission.addHint(`The next run would fail: ${finding}.`, `${whereToLook}. ${newKeys}`);
	const brought = [...contents.reports.values()].slice(0, MAX_EXAMPLES);
	const now = compact(brought.map(({ key, id }) => key ?? id));
	const before = await examplesOf(missing, memory, 'key');
	const examples = [`Before, for example: ${before}`, now.length > 0 && `now: ${now.join(', ')}`];
	const stored = submission.isFindChanges ? '' : 'All that came is stored beside the others. ';
	const advice = `${stored}${compact(examples).join('; ')}. ${whereToLook}, with the keys of earlier runs. ${newKeys}`;
	if (!mayDisableInExecution(submission))
		return submission.addHint(`A scheduled run would disable none: ${finding}.`, advice);
	submission.addSourceError(first.operationError(`Nothing was disabled: ${finding}`, advice));
}

const MODE_UNKNOWN =
	'Disabled in a sub-workflow: this n8n does not say whether its parent was only tested, so it counts as scheduled.';

const notAllDisabledHint = (failure: Failure) =>
	asHint(`Documents that are gone were not all disabled. ${failureMessage(failure)}`);

/** Returns why this run must disable no documents; `undefined` if it may. Renews the lease of the memory if overdue. */
async function reasonToDisableNone(
	{ contents, isProcessingBroken, submission }: SourceRun,
	memory: SourceMemory,
): Promise<string | undefined> {
	const { filesWithoutRecords, gaps, seen, withoutStableId } = contents;
	const { first, signal, unassigned } = submission;
	if (signal?.aborted) return 'the execution was stopped';
	const failed = counted(gaps + unassigned, 'document was', 'documents were');
	if (gaps + unassigned > 0) return `${failed} not read, or not stored for certain`;
	if (isProcessingBroken) return 'the processing could not be started or followed';
	if (filesWithoutRecords > 0)
		return `${counted(filesWithoutRecords, 'file')} of records held none`;
	if (withoutStableId > 0) return `${counted(withoutStableId, 'document')} came without an ID`;
	if (seen.size === 0) return 'the source brought no documents';
	if (Number(first.context.getWorkflowDataProxy(0).$runIndex) > 0)
		return 'the node ran more than once in this execution';
	if (!memory.isUsable) return 'this run cannot be remembered';
	const leaseFailure = await memory.renewLeaseIfOverdue();
	return leaseFailure && 'whether another run of this source is at work is not known';
}

/** Fewer missing documents than this are always allowed, with the exceptions in `exceedsShare`. */
const ALWAYS_ALLOWED_BELOW = 10;

/**
 * Whether more documents are missing than `maxPercent` allows. Ignores the limit if only a few are missing. Even then,
 * the limit applies if at least half of the documents are missing, or if `maxPercent` is 0.
 */
export function exceedsShare(missing: number, before: number, maxPercent: number): boolean {
	const isFew = missing < ALWAYS_ALLOWED_BELOW && missing * 2 < before && maxPercent > 0;
	return !isFew && percentage(missing, before) > maxPercent;
}

/** Returns a share in percent. Rounds up, because `disableMissing` suggests this number as a sufficient limit. */
function percentage(part: number, whole: number): number {
	return whole === 0 ? 0 : Math.ceil((part * 100) / whole);
}
