import type { INodeExecutionData } from 'n8n-workflow';

import { throwIfFixedVersion } from './fixedFieldChecks';
import type { Execution } from '../../../execution/operation';
import { readOutputFormat } from '../../../execution/outputs';
import { addHints } from '../../../execution/n8nExecution';
import { systemClock } from '../../../transport/clock';
import { addEndHints, addMemoryHints, addMirroredHint } from './endHints';
import { disableGone } from './disableGone';
import { progressInWords } from './summaryTexts';
import { allHints } from './hints';
import { processingError, stopError, withHints } from './endErrors';
import { outputItems } from './outputItems';
import { readSubmitSettings } from './settings';
import type { SourceRun } from './sourceRun';
import { VERSION_PARAMETER } from './documentVersion';
import { Submission } from './submission';
import { adjustedToLinkedNodes, throwIfMirrorsPart } from './workflowChecks';
import { groupBySource } from './groupBySource';

/**
 * Runs Submit: stores the documents of all items, requests their processing, and reports each outcome.
 *
 * @returns an item for each document, or one summary (see `outputItems`)
 * @throws NodeOperationError if a setting is not valid
 * @throws with On Error = Stop Workflow, the error of the first failure; but if stored documents could not be processed,
 * one error about all of them, at the end of the run
 */
export async function executeSubmit(execution: Execution): Promise<INodeExecutionData[]> {
	const [first] = execution.items;
	if (!first) return [];
	const settings = { ...readSubmitSettings(first), ...readOutputFormat(first) };
	if (settings.mirrors) throwIfMirrorsPart(first);
	throwIfFixedVersion(first, VERSION_PARAMETER, execution.items.length);
	const started = systemClock.now();
	const submission = new Submission(first, adjustedToLinkedNodes(first, settings));
	first.progress = () => progressInWords(submission);
	await submitSources(submission, groupBySource(submission, execution.items));
	if (submission.failsAtEnd) throw processingError(submission);
	addHints(first.context, allHints(submission));
	return outputItems(submission, (systemClock.now() - started) / 1000);
}

/**
 * Stores and processes the documents of all sources, and disables missing documents. A dry run only plans. In the end,
 * closes each memory that `submitInTurn` has not closed before.
 */
async function submitSources(submission: Submission, sourceRuns: SourceRun[]): Promise<void> {
	const { settings } = submission;
	// A dry run takes no lease, so it has nothing to close. `submitInTurn` removes each source whose memory it closes.
	const toClose = new Set(settings.dryRun ? [] : sourceRuns);
	let isUserTold = false;
	try {
		// If the run does not wait for processing, each source can be finished before the next one.
		if (settings.waitMs === undefined) await submitInTurn(submission, sourceRuns, toClose);
		else await submitTogether(submission, sourceRuns);
		addMirroredHint(submission);
		if (submission.sourceError) throw withHints(submission, submission.sourceError);
		// `SourceMemory.unsaid` holds findings that no run has told the user. The user sees the hints about them only if the
		// run ends without an error. With a `linkedNodesHint`, `addStoredBeforeHints` holds some of these hints back.
		isUserTold = !submission.failsAtEnd && settings.linkedNodesHint === undefined;
	} finally {
		const closing = [...toClose].map(
			async ({ memory }) => await memory?.close({ isSaid: isUserTold }),
		);
		// Every memory must be closed before an error is thrown, so that each lease is released.
		await Promise.allSettled(closing);
		await Promise.all(closing);
	}
	for (const sourceRun of sourceRuns) addMemoryHints(sourceRun);
}

/**
 * Works on one source after the other. When the work on a source has ended, closes the memory of this source, and removes
 * the source from `toClose`. Leaves a source in `toClose` if the run has stopped, or if its memory holds facts that the
 * user was not told yet (`unsaid`).
 */
async function submitInTurn(
	submission: Submission,
	sourceRuns: SourceRun[],
	toClose: Set<SourceRun>,
): Promise<void> {
	for (const sourceRun of sourceRuns) {
		await storeOrPlan(sourceRun);
		// The next sources still report their documents as not sent.
		if (submission.stoppedBy) continue;
		await sourceRun.followProcessing();
		await disableGone(sourceRun);
		// Only the end of the run shows whether the user is told what is unsaid.
		if (sourceRun.memory?.unsaid) continue;
		// In a dry run, `toClose` is empty.
		if (toClose.delete(sourceRun)) await sourceRun.memory?.close();
	}
	await endRunIfDocumentFailed(submission, sourceRuns);
	addEndHints(submission, sourceRuns);
}

/**
 * Stores the documents of all sources, waits for the processing of all of them at once, and then disables missing
 * documents.
 */
async function submitTogether(submission: Submission, sourceRuns: SourceRun[]): Promise<void> {
	for (const sourceRun of sourceRuns) await storeOrPlan(sourceRun);
	await endRunIfDocumentFailed(submission, sourceRuns);
	await Promise.all(sourceRuns.map(async (sourceRun) => await sourceRun.followProcessing()));
	// `followProcessing` may store documents again, which may fail.
	await endRunIfDocumentFailed(submission, sourceRuns);
	addEndHints(submission, sourceRuns);
	for (const sourceRun of sourceRuns) await disableGone(sourceRun);
}

/** Stores the documents of a source, or plans in a dry run. If sending has stopped, `store` reports them as not sent. */
async function storeOrPlan(sourceRun: SourceRun): Promise<void> {
	const { canSend, settings } = sourceRun.submission;
	if (settings.dryRun && canSend) await sourceRun.plan();
	else await sourceRun.store();
}

/**
 * Ends the run if a document failed and On Error is Stop Workflow. The server still processes the stored documents.
 *
 * @throws the error of the failed document
 */
async function endRunIfDocumentFailed(
	submission: Submission,
	sourceRuns: SourceRun[],
): Promise<void> {
	const { stoppedBy } = submission;
	if (!stoppedBy) return;
	for (const sourceRun of sourceRuns) await sourceRun.finishAfterFailure();
	throw stopError(submission, stoppedBy);
}
