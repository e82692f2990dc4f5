import compact from 'lodash/compact';
import sumBy from 'lodash/sumBy';
import { isExpression, type INodeExecutionData } from 'n8n-workflow';
import type { AnyZodObject } from 'zod';

import type { Item } from '../../../execution/item';
import type { Execution } from '../../../execution/operation';
import { mayContinue, addHints } from '../../../execution/outputs';
import { withProgress } from '../../../execution/progress';
import { givenFor } from '../../../execution/rawParameters';
import { systemClock } from '../../../transport/clock';
import { failureMessage } from '../../../transport/failure';
import { MIRROR, disableMissing, refuseBehindFindChanges, refuseInLoop } from './disableMissing';
import { troubleHints } from './knowledgebase';
import { hintsOf, outputOf, processingError, progressOf, stopError } from './report';
import { readSubmitSettings, sameSettingsCheck, sourceOf, submitParameters } from './settings';
import { Submission } from './submission';
import { Target } from './target';
import { sentences } from './wording';

/**
 * Stores the documents of all items, processes them, and reports the outcome of each.
 *
 * @throws NodeApiError or NodeOperationError with Stop, for the first document that failed
 */
export async function execute(execution: Execution): Promise<INodeExecutionData[]> {
	const [first] = execution.items;
	if (!first) return [];
	const settings = readSubmitSettings(first);
	if (settings.mirrors) {
		refuseInLoop(first, 'mode', MIRROR, 'Send New and Changed');
		refuseBehindFindChanges(first);
	}
	const started = systemClock.now();
	const submission = new Submission(first, settings);
	const { tally } = submission;
	const { source } = first.context.getNode().parameters;
	const total = ONE_IN_ITEM.includes(source) ? execution.items.length : undefined;
	await withProgress(
		first.context,
		() => progressOf(tally, total),
		async () => await submitTo(submission, targetsOf(submission, execution.items)),
	);
	if (tally.processingFailed > 0 && !mayContinue(first.context))
		throw processingError(tally, first);
	addHints(first.context, hintsOf(tally, first, settings));
	return outputOf(tally, first, settings, (systemClock.now() - started) / 1000);
}

/** Sources with which each item is one document. */
const ONE_IN_ITEM: unknown[] = ['text', 'files', 'addresses', 'fields'];

/**
 * The sources of the items, each with its knowledgebase. With Stop, all items are read before anything is sent, so that
 * a flaw leaves nothing stored; otherwise each is read when its turn comes, as files of records always are.
 */
export function targetsOf(
	submission: Submission,
	items: Item[],
	schema: AnyZodObject = submitParameters,
): Target[] {
	const { first, tally } = submission;
	const readsAhead = !mayContinue(first.context);
	const checkSettings = sameSettingsCheck(first, schema);
	const targets = new Map<string, Target>();
	for (const [index, item] of items.entries()) {
		try {
			item.checkSameCredential(first);
			checkSettings(item);
			const id = item.id('knowledgebaseId');
			const source = sourceOf(item);
			const place = JSON.stringify([id, source]);
			const target = targets.get(place) ?? new Target(submission, id, source, item);
			target.stream.queue.push({ item, documents: readsAhead ? submission.read(item) : undefined });
			targets.set(place, target);
		} catch (caught) {
			submission.unassigned += 1;
			submission.takeFlaw(item, caught);
		}
		tally.itemsNotRead = items.length - index - 1;
		if (submission.stoppedBy) break;
	}
	return [...targets.values()];
}

/** Stores the documents and follows their processing, or plans that. The memory is written however the run ends. */
async function submitTo(submission: Submission, targets: Target[]): Promise<void> {
	const { first, settings } = submission;
	try {
		for (const target of targets)
			if (!submission.stoppedBy) await (settings.dryRun ? target.plan() : target.store());
		await endIfStopped(submission, targets);
		// All knowledgebases share one wait, in which documents that could not be processed are sent whole.
		await Promise.all(targets.map(async (target) => await target.followProcessing()));
		await endIfStopped(submission, targets);
		remarkCircuitBreaker(submission);
		submission.remarkOn(sumBy(targets, 'older'), NOT_SENT_IN_RETRY);
		remarkProcessing(submission, targets);
		for (const target of targets) await disableMissing(target);
		if (settings.mirrors && isExpression(givenFor(first.context.getNode(), 'sourceName')))
			submission.remark(ONLY_WITH_DOCUMENTS);
		if (submission.refusal) throw submission.refusal;
	} finally {
		if (!settings.dryRun) await closeAll(targets);
	}
	for (const { memory } of targets) if (memory) submission.remark(...troubleHints(memory.troubles));
}

/** @throws the error of the document that failed with Stop, if there is one */
async function endIfStopped(submission: Submission, targets: Target[]): Promise<void> {
	const { stoppedBy, tally } = submission;
	if (!stoppedBy) return;
	for (const target of targets) await target.stop();
	throw stopError(tally, stoppedBy, sumBy(targets, 'waiting'));
}

/** Closes every memory, also if one of them throws: a lease that is kept locks its source. */
async function closeAll(targets: Target[]): Promise<void> {
	const closed = await Promise.allSettled(targets.map(async ({ memory }) => await memory?.close()));
	for (const end of closed) if (end.status === 'rejected') throw end.reason;
}

const NOT_SENT_IN_RETRY = 'not sent: this is a retry, and what is stored may be newer.';

const ONLY_WITH_DOCUMENTS =
	'Mirrored: the sources that brought a document in this run. Others keep what they have.';

/** Reports once that the circuit breaker kept documents from being sent. */
function remarkCircuitBreaker(submission: Submission): void {
	const { reason, streakLength } = submission.circuitBreaker;
	const { notSent } = submission.tally.counts;
	if (reason === undefined) return;
	const why =
		streakLength === undefined ? 'none would be found' : `${streakLength} in a row failed`;
	submission.remarkOn(notSent, `not sent, as ${why}: ${reason}`);
}

/** Reports what is not known of the processing. Documents stay stored whatever happens. */
function remarkProcessing(submission: Submission, targets: Target[]): void {
	const results = compact(targets.map(({ processing }) => processing?.result));
	for (const { failure, hasNoRoute, allStarted } of results) {
		if (hasNoRoute) submission.remark(NO_PROCESSING_ROUTE);
		else if (failure) {
			submission.tally.processingBroken = true;
			const step = allStarted ? 'followed' : 'started';
			const broken = `The documents are stored, but their processing could not be ${step}`;
			submission.remark(sentences(broken, failureMessage(failure)));
		}
	}
	const next = targets.some(({ memory }) => memory) ? '; the next run asks for the end' : '';
	const unfinished = `still being processed when the wait ended${next}.`;
	submission.remarkOn(sumBy(results, 'unfinished'), unfinished);
}

const NO_PROCESSING_ROUTE =
	'This server decides by itself when documents are found: it takes no request to process them.';
