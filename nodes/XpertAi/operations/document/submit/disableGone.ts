import { difference, partition, pick, sortBy } from 'lodash';

import { outermostMode } from '../../../execution/n8nExecution';
import type { SourceMemory } from '../../../ingest/memory';
import { fetchStatuses, processingState, type StatusRecord } from '../../../ingest/statuses';
import { disableOrEnableDocuments } from '../../../ingest/disableOrEnableDocuments';
import type { Failure } from '../../../transport/failure';
import { failureMessage } from '../../../transport/failureText';
import { exceedsShare, mayDisableInExecution } from './disablingLimits';
import { addScheduledRunHint, reportOtherKeys, reportTooMany } from './goneReports';
import type { SourceRun } from './sourceRun';
import { countWithNoun, truncateHint } from '../textHelpers';

/**
 * Disables stored documents that are missing from this run, if `mirrors` is set. Only a complete run disables documents
 * (see `reasonToDisableNone`), and only in some modes (see `mayDisableInExecution`). A dry run only reports these documents.
 * If too many are missing (`maxGonePercent`), disables none and records an error.
 */
export async function disableGone(sourceRun: SourceRun): Promise<void> {
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
	const { missing, switchedByHand, toDisable } = classifyGone(unseen, statuses, memory.known);
	submission.addCountedHint(switchedByHand.length, SWITCHED_BY_HAND_HINT);
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
 * - `switchedByHand`: documents on the server that a user seems to have switched (see `isOutAlready`). They are not
 *   disabled.
 * - `toDisable`: the other documents on the server.
 * - `missing`: the documents that count for `maxGonePercent`. Neither documents for which `isOutAlready` is true nor
 *   those in `known.rebuilt` count. Some may not be on the server.
 */
function classifyGone(
	unseen: string[],
	statuses: Map<string, StatusRecord>,
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
			submission.recordFact({ outcome: 'planned', plan: 'gone', ...names.get(id), id });
		return;
	}
	const isModeUnknown = outermostMode(submission.first.context) === 'integrated';
	if (isModeUnknown && ids.length > 0) submission.addHint(MODE_UNKNOWN_HINT);
	const failure = await disableOrEnableDocuments(byName, {
		disabled: true,
		routes: memoryRoutes,
		fieldsOf: (id) => pick(names.get(id), 'name'),
		beforeChange: async (some) => await memory.journalBeforeDisabling(some),
		onChanged: (id) => {
			memory.known.remove(id);
			submission.recordFact({ outcome: 'disabled', ...names.get(id), id });
		},
	});
	if (failure) submission.addHint(notAllDisabledHint(failure));
}

/** A document that was enabled again by hand looks like a disabled one: it has no status. So it may still be found. */
const SWITCHED_BY_HAND_HINT =
	'not disabled, though gone: switched by hand. If still found, Document: Disable takes it out.';

const MODE_UNKNOWN_HINT =
	'Disabled in a sub-workflow: this n8n does not say whether its parent was only tested, so it counts as scheduled.';

const notAllDisabledHint = (failure: Failure) =>
	truncateHint(`Documents that are gone were not all disabled. ${failureMessage(failure)}`);

/** Returns why this run must disable no documents; `undefined` if it may. Renews the lease of the memory if overdue. */
async function reasonToDisableNone(
	{ contents, isProcessingBroken, submission }: SourceRun,
	memory: SourceMemory,
): Promise<string | undefined> {
	const { filesWithoutRecords, gaps, seen, withoutStableId } = contents;
	const { first, signal, unassigned } = submission;
	if (signal?.aborted) return 'the execution was stopped';
	const failed = countWithNoun(gaps + unassigned, 'document was', 'documents were');
	if (gaps + unassigned > 0) return `${failed} not read, or not stored for certain`;
	if (isProcessingBroken) return 'the processing could not be started or followed';
	if (filesWithoutRecords > 0)
		return `${countWithNoun(filesWithoutRecords, 'file')} of records held none`;
	if (withoutStableId > 0)
		return `${countWithNoun(withoutStableId, 'document')} came without an ID`;
	if (seen.size === 0) return 'the source brought no documents';
	if (Number(first.context.getWorkflowDataProxy(0).$runIndex) > 0)
		return 'the node ran more than once in this execution';
	if (!memory.isUsable) return 'this run cannot be remembered';
	const leaseFailure = await memory.renewLeaseIfOverdue();
	return leaseFailure && 'whether another run of this source is at work is not known';
}
