import { compact, difference, partition, pick, sortBy } from 'lodash';

import { outermostMode } from '../../../execution/outputs';
import type { SourceMemory } from '../../../ingest/memory';
import { fetchStatuses, processingState, type ProcessingStatus } from '../../../ingest/statuses';
import { switchDocuments } from '../../../ingest/switchDocuments';
import type { Failure } from '../../../transport/failure';
import { failureMessage } from '../../../transport/failureText';
import { SourceRun } from './sourceRun';
import type { Submission } from './submission';
import { asHint, counted } from './textHelpers';

/** Maximum number of documents that a message names as examples. */
const EXAMPLES = 3;

/**
 * n8n execution modes in which the node disables missing documents. In a manual execution or a retry, items may be
 * incomplete or outdated.
 */
const REMOVING_MODES: unknown[] = ['trigger', 'webhook', 'chat', 'cli', 'error', 'integrated'];

/** Whether an execution in this mode disables missing documents. */
function isDisablingMode(mode: unknown, { settings }: Submission): boolean {
	return REMOVING_MODES.includes(mode) || (mode === 'manual' && settings.disableInManualRuns);
}

/**
 * Disables stored documents that are missing from this run, if `mirrors` is set. Only a complete run disables documents
 * (see `reasonToKeep`), and only in some modes (see `isDisablingMode`). A dry run only reports these documents. If too
 * many are missing (`maxGonePercent`), disables none and records an error.
 */
export async function disableMissing(sourceRun: SourceRun): Promise<void> {
	const { contents, memory, memoryRoutes: routes, submission } = sourceRun;
	const { dryRun, mirrors } = submission.settings;
	if (!memory || !mirrors) return;
	const { known, requiredId } = memory;
	const ids = [...known.ids(contents.seen)];
	if (ids.length === 0) return;
	const reason = await reasonToKeep(sourceRun, memory);
	if (reason)
		return submission.addHint(`Nothing ${dryRun ? 'would be' : 'was'} disabled: ${reason}.`);
	const { statuses, failure } = await fetchStatuses(ids, routes, requiredId);
	if (failure) return submission.addHint(notAllDisabledHint(failure));
	const { switched, toDisable, missing } = sortMissing(ids, statuses, known);
	submission.addCountedHint(switched.length, SWITCHED);
	// `handleGone` has counted all missing documents. A dry run counts below what it would disable.
	if (!dryRun && submission.isListing) submission.tally.plans.gone -= switched.length;
	if (!(await mayDisable(sourceRun, memory, missing, ids.length))) return;
	const names = await memory.names.of(toDisable);
	const byName = sortBy(toDisable, (id) => names.get(id)?.name);
	if (dryRun) {
		for (const id of byName)
			submission.add({ outcome: 'planned', plan: 'gone', ...names.get(id), id });
		return;
	}
	const isModeUnknown = outermostMode(submission.first.context) === 'integrated';
	if (isModeUnknown && toDisable.length > 0) submission.addHint(MODE_UNKNOWN);
	// Forgets what was switched by hand, and what the server does not list.
	for (const id of difference(ids, toDisable)) known.remove(id);
	const notDisabled = await switchDocuments(byName, {
		disabled: true,
		routes,
		fieldsOf: (id) => pick(names.get(id), 'name'),
		beforeChange: async (some) => await memory.journalDisabling(some),
		onSwitched: (id) => {
			known.remove(id);
			submission.add({ outcome: 'disabled', ...names.get(id), id });
		},
	});
	if (notDisabled) submission.addHint(notAllDisabledHint(notDisabled));
}

/** Sorts the documents that are missing from this run. */
function sortMissing(
	ids: string[],
	statuses: Map<string, ProcessingStatus>,
	known: SourceMemory['known'],
) {
	// Processing had finished, but the state is now `none`: a user has disabled or deleted the document.
	const isOutAlready = (id: string) =>
		known.isProcessed(id) && processingState(statuses.get(id)) === 'none';
	const [switched, toDisable] = partition(
		ids.filter((id) => statuses.has(id)),
		isOutAlready,
	);
	// Documents in `known.rebuilt` do not count as missing: they may have been disabled long ago.
	const missing = ids.filter((id) => !isOutAlready(id) && !known.rebuilt.has(id));
	return { switched, toDisable, missing };
}

/**
 * Whether this run disables missing documents. If not, adds the hint or the error that says why.
 *
 * @param missing the documents that count as missing
 * @param unseen number of known documents that this run did not contain
 */
async function mayDisable(
	sourceRun: SourceRun,
	memory: SourceMemory,
	missing: string[],
	unseen: number,
): Promise<boolean> {
	const { submission } = sourceRun;
	const { first, settings } = submission;
	const { dryRun, maxGonePercent } = settings;
	const { knownBefore } = memory;
	const share = `${missing.length} of ${counted(knownBefore, 'document')} are missing from this run`;
	const isTooMany = exceedsShare(missing.length, knownBefore, maxGonePercent);
	// If no document of this run was known before, this run contained none of the known documents.
	if (isTooMany && unseen === knownBefore) {
		await reportOtherKeys(sourceRun, memory, missing);
		return false;
	}
	if (!dryRun && !isDisablingMode(outermostMode(first.context), submission)) {
		const plan = isTooMany ? `disable none: more than ${maxGonePercent} %` : 'disable them';
		submission.addHint(`${share}. A scheduled run would ${plan}.`);
		return false;
	}
	if (!isTooMany) return true;
	const label = `"${first.labelOf('options.maxGonePercent')}"`;
	const tooMany = `${share}, more than ${label} allows (${maxGonePercent})`;
	if (dryRun) submission.addHint(`The next run would fail: ${tooMany}.`);
	else {
		const examples = await examplesOf(missing, memory, 'name');
		const percent = percentage(missing.length, knownBefore);
		const error = first.operationError(
			`Nothing was disabled: ${tooMany}`,
			`${allStored(submission)}Missing are for example ${examples}. If they are really gone from the source, set ${label} to ${percent} for one run.`,
		);
		submission.addSourceError(error);
	}
	return false;
}

/** A document that was enabled by hand has no status either, so it may still be found. */
const SWITCHED =
	'not disabled, though gone: switched by hand. If still found, Document: Disable takes it out.';

const allStored = ({ isListing }: Submission) => (isListing ? '' : 'All that came is stored. ');

/** Names some documents that earlier runs stored, by their names or keys, or else by their IDs. */
async function examplesOf(ids: string[], { names }: SourceMemory, by: 'name' | 'key') {
	const some = ids.slice(0, EXAMPLES);
	const known = await names.of(some);
	const examples = some.map((id) => known.get(id)?.[by] ?? id);
	return examples.sort().join(', ');
}

/**
 * Disables nothing, because no document of this run was known before: its keys are probably made otherwise. Gives no
 * value that would allow it, because all documents of the source would be disabled.
 */
async function reportOtherKeys(
	{ contents, submission }: SourceRun,
	memory: SourceMemory,
	missing: string[],
): Promise<void> {
	const { first, settings } = submission;
	const known = counted(memory.knownBefore, 'known document');
	const finding = `none of ${known} is in this run, whose keys differ from those before`;
	const field = first.node.parameters.documentKeyField ? 'documentKeyField' : 'documentKey';
	const look = `Compare "${first.labelOf(field)}" here and in the other node of this source`;
	if (settings.dryRun)
		return submission.addHint(`The next run would fail: ${finding}.`, `${look}.`);
	if (!isDisablingMode(outermostMode(first.context), submission))
		return submission.addHint(`A scheduled run would disable none: ${finding}.`, `${look}.`);
	const brought = [...contents.reports.values()].slice(0, EXAMPLES);
	const now = compact(brought.map(({ key, id }) => key ?? id));
	const before = await examplesOf(missing, memory, 'key');
	const examples = [`Before, for example: ${before}`, now.length > 0 && `now: ${now.join(', ')}`];
	const error = first.operationError(
		`Nothing was disabled: ${finding}`,
		`${allStored(submission)}${compact(examples).join('; ')}. ${look}, with the keys of earlier runs. If the keys are meant to be new, Document: Disable takes the old documents out, by their old keys and the same "${first.labelOf('sourceName')}".`,
	);
	submission.addSourceError(error);
}

const MODE_UNKNOWN =
	'Disabled in a sub-workflow: this n8n does not say whether its parent was only tested, so it counts as scheduled.';

const notAllDisabledHint = (failure: Failure) =>
	asHint(`Documents that are gone were not all disabled. ${failureMessage(failure)}`);

/** Returns why no documents may be disabled, or `undefined` if they may be disabled. */
async function reasonToKeep(
	{ contents, isProcessingBroken, submission }: SourceRun,
	memory: SourceMemory,
): Promise<string | undefined> {
	const { emptyFiles, gaps, seen, withoutStableId } = contents;
	const { first, signal, unassigned } = submission;
	if (signal?.aborted) return 'the execution was stopped';
	const failed = counted(gaps + unassigned, 'document was', 'documents were');
	if (gaps + unassigned > 0) return `${failed} not read, or not stored for certain`;
	if (isProcessingBroken) return 'the processing could not be started or followed';
	if (emptyFiles > 0) return `${counted(emptyFiles, 'file')} of records held none`;
	if (withoutStableId > 0) return `${counted(withoutStableId, 'document')} came without an ID`;
	if (seen.size === 0) return 'the source brought no documents';
	if (Number(first.context.getWorkflowDataProxy(0).$runIndex) > 0)
		return 'the node ran more than once in this execution';
	if (!memory.isUsable) return 'this run cannot be remembered';
	return (await memory.check()) && 'whether another run of this source is at work is not known';
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
