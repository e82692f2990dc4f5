import compact from 'lodash/compact';
import sumBy from 'lodash/sumBy';
import { isExpression } from 'n8n-workflow';
import type { INodeExecutionData } from 'n8n-workflow';

import type { Item } from '../../../execution/item';
import type { Execution } from '../../../execution/operation';
import { mayContinue, addHints } from '../../../execution/outputs';
import { givenFor } from '../../../execution/rawParameters';
import { systemClock } from '../../../transport/clock';
import { failureMessage } from '../../../transport/failure';
import { disableMissing, refuseInLoop } from './disableMissing';
import { troubleHints } from './knowledgebase';
import { checkSameSettings, readSubmitSettings, sourceOf } from './settings';
import { Submission } from './submission';
import { Target } from './target';
import { asHint, counted, sentences } from './wording';

/**
 * Stores the documents of all items, processes them, and reports the outcome of each.
 *
 * @throws NodeApiError or NodeOperationError with Stop, for the first document that failed
 */
export async function execute(execution: Execution): Promise<INodeExecutionData[]> {
	const [first] = execution.items;
	if (!first) return [];
	const settings = readSubmitSettings(first);
	if (settings.mirrors) refuseInLoop(first);
	const started = systemClock.now();
	const submission = new Submission(first, settings);
	const { report } = submission;
	await submitTo(submission, targetsOf(submission, execution.items));
	if (report.processingFailed > 0 && !mayContinue(first.context)) throw report.processingError;
	const seconds = (systemClock.now() - started) / 1000;
	addHints(first.context, [
		report.line,
		...report.allRemarks,
		...submission.warnings.hints(first),
		...(report.countMayBeLow ? [COUNT_MAY_BE_LOW] : []),
	]);
	return settings.output === 'summary' ? [report.summaryItem(seconds)] : report.items;
}

/**
 * The sources of the items, each with its knowledgebase. With Stop, all items are read before anything is sent, so that a flaw leaves
 * nothing stored; otherwise each is read when its turn comes, as files of records always are.
 */
function targetsOf(submission: Submission, items: Item[]): Target[] {
	const { first, report } = submission;
	const readsAhead = !mayContinue(first.context);
	const targets = new Map<string, Target>();
	for (const [index, item] of items.entries()) {
		try {
			item.checkSameCredential(first);
			checkSameSettings(item, first);
			const id = item.id('knowledgebaseId');
			const source = sourceOf(item);
			const place = JSON.stringify([id, source]);
			const target = targets.get(place) ?? new Target(submission, id, source);
			target.stream.queue.push({ item, documents: readsAhead ? submission.read(item) : undefined });
			targets.set(place, target);
		} catch (caught) {
			submission.unassigned += 1;
			report.addFlaw(item, caught);
		}
		report.itemsNotRead = items.length - index - 1;
		if (report.stopError) break;
	}
	return [...targets.values()];
}

/** Stores the documents and follows their processing, or plans that. The memory is written however the run ends. */
async function submitTo(submission: Submission, targets: Target[]): Promise<void> {
	const { first, report, settings } = submission;
	try {
		for (const target of targets)
			if (!report.stopError) await (settings.dryRun ? target.plan() : target.store());
		remarkCircuitBreaker(submission);
		const older = sumBy(targets, 'older');
		if (older > 0)
			report.remark(`${counted(older, 'document was', 'documents were')} ${NOT_SENT_IN_RETRY}`);
		if (report.stopError) {
			// Stored documents are processed nevertheless; the next run fetches their statuses.
			for (const { processing } of targets) await processing?.startRemaining();
			throw report.withCounts(report.stopError);
		}
		await waitForProcessing(submission, targets);
		for (const target of targets) await disableMissing(target);
		if (settings.mirrors && isExpression(givenFor(first.context.getNode(), 'sourceName')))
			report.remark(ONLY_WITH_DOCUMENTS);
		if (report.refusal) throw report.refusal;
	} finally {
		if (!settings.dryRun) for (const { memory } of targets) await memory?.close();
	}
	for (const { memory } of targets) if (memory) report.remark(...troubleHints(memory.troubles));
}

const NOT_SENT_IN_RETRY = 'not sent: this is a retry, and what is stored may be newer.';

const ONLY_WITH_DOCUMENTS =
	'Mirrored: the sources that brought a document in this run. Others keep what they have.';

/** Reports once that the circuit breaker kept documents from being sent. */
function remarkCircuitBreaker({ circuitBreaker, report }: Submission): void {
	const { reason, streakLength } = circuitBreaker;
	const { notSent } = report;
	if (reason === undefined || notSent === 0) return;
	const documents = counted(notSent, 'document was', 'documents were');
	const why =
		streakLength === undefined ? 'none would be found' : `${streakLength} in a row failed`;
	report.remark(asHint(`${documents} not sent, as ${why}: ${reason}`));
}

const COUNT_MAY_BE_LOW =
	"The server's own count (documentNum) may be too low: several batches went at once. Nothing is lost by that.";

/**
 * Follows the started processing to its end, concurrently for all knowledgebases: they share one wait. Documents stay
 * stored whatever happens.
 */
async function waitForProcessing({ report }: Submission, targets: Target[]): Promise<void> {
	const ends = await Promise.all(targets.map(async ({ processing }) => await processing?.end()));
	for (const { failure, hasNoRoute, allStarted } of compact(ends)) {
		if (hasNoRoute) report.remark(NO_PROCESSING_ROUTE);
		else if (failure) {
			report.processingBroken = true;
			const step = allStarted ? 'followed' : 'started';
			const broken = `The documents are stored, but their processing could not be ${step}`;
			report.remark(sentences(broken, failureMessage(failure)));
		}
	}
	const unfinished = sumBy(compact(ends), 'unfinished');
	if (unfinished > 0) {
		const documents = counted(unfinished, 'document was', 'documents were');
		const next = targets.some(({ memory }) => memory) ? '; the next run asks for the end' : '';
		report.remark(`${documents} still being processed when the wait ended${next}.`);
	}
}

const NO_PROCESSING_ROUTE =
	'This server decides by itself when documents are found: it takes no request to process them.';
