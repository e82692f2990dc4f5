import sortBy from 'lodash/sortBy';
import sumBy from 'lodash/sumBy';
import type { INodeExecutionData } from 'n8n-workflow';
import { z } from 'zod';

import { isTool } from '../../../execution/outputFor';
import type { Item } from '../../../execution/item';
import { keyOf } from '../../../execution/keys';
import type { Execution } from '../../../execution/operation';
import { addHints, mayContinue } from '../../../execution/outputs';
import { MINUTE_MS } from '../../../transport/clock';
import { disableMissing, refuseInLoop } from './disableMissing';
import { targetsOf } from './execute';
import { troubleHints } from './knowledgebase';
import { errorOf, knowledgebaseError } from './outcomes';
import { hintsOf, outputOf } from './report';
import { submitParameters } from './settings';
import type { SubmitSettings } from './settings';
import { versionOf } from './sources/readers';
import type { FoundDocument } from './sources/sourceDocument';
import { Submission } from './submission';
import type { Tally } from './tally';
import type { Target } from './target';

const parameters = z.object({
	whatIsGone: z.enum(['keep', 'disable']),
	options: submitParameters.shape.options.pick({
		dryRun: true,
		maxGonePercent: true,
		resendAll: true,
	}),
});

/** The settings of Submit by which statuses and memory are read, and those that only matter where it stores. */
const AS_SUBMIT = {
	remembers: true,
	retryLimits: { maxTries: Infinity, maxElapsedMs: 10 * MINUTE_MS },
	timeoutMs: 2 * MINUTE_MS,
	output: 'documents',
	simplify: true,
	forgetDamage: false,
	batchLimits: { maxCount: 1, maxBytes: 1 },
	concurrency: 1,
	stopAfterFailures: 0,
	waitMs: undefined,
} as const;

/**
 * Passes on the items whose documents Submit would send, by their keys and versions. Uploads and stores nothing.
 *
 * @throws NodeApiError or NodeOperationError if an item cannot be read (with Stop) or the memory cannot be read
 */
export async function findChanges({ items }: Execution): Promise<INodeExecutionData[]> {
	const [first] = items;
	if (!first) return [];
	if (isTool(first.context)) throw first.operationError(NO_TOOL);
	const { whatIsGone, options } = first.settings(parameters);
	const settings: SubmitSettings = {
		...AS_SUBMIT,
		...options,
		mirrors: whatIsGone === 'disable',
	};
	if (settings.mirrors)
		refuseInLoop(first, 'whatIsGone', 'Disable It: the Items Are the Whole Source', 'Leave It');
	const submission = new Submission(first, settings, (item) => [listedDocument(item)]);
	const { tally } = submission;
	const targets = targetsOf(submission, items, parameters);
	if (submission.stoppedBy) throw errorOf(submission.stoppedBy);
	for (const target of targets) await planOrFail(target);
	for (const target of targets) await handleGone(target);
	if (submission.refusal) throw submission.refusal;
	submission.remarkOn(sumBy(targets, 'unversioned'), UNVERSIONED);
	addHints(first.context, hintsOf(tally, first, settings, lineOf(tally)));
	if (settings.dryRun) return outputOf(tally, first, settings, 0);
	return [
		...sortBy(tally.origins, ({ item }) => item.index).flatMap(({ item, error, plan }) => {
			if (error) return item.failed(error);
			return plan === undefined || plan === 'unchanged' ? [] : item.passedOn();
		}),
		...tally.refusals.map((error) => first.failed(error)),
	];
}

const NO_TOOL =
	'Find Changes passes items on to the next node, which the tool of an agent does not have';

const UNVERSIONED =
	'stored without a version. Set "Document Version" in the node that submits them.';

/** What a listing tells of a document. Its content is not there, so one without a version counts as changed. */
function listedDocument(item: Item): FoundDocument {
	const version = versionOf(item.text('documentVersion'));
	return { record: {}, key: keyOf(item, 'documentKey'), version };
}

/** @throws NodeApiError with Stop, if the memory cannot be read; otherwise it becomes the error of each item. */
async function planOrFail(target: Target): Promise<void> {
	const { stream, submission } = target;
	try {
		await target.plan();
	} catch (caught) {
		if (!mayContinue(submission.first.context)) throw submission.first.asError(caught);
		for (const { item } of stream.queue) submission.takeFlaw(item, caught);
	}
}

/** Counts the documents that no item names, and disables them (What Is Gone). Only that takes the lease. */
async function handleGone(target: Target): Promise<void> {
	const { memory: read, stream, submission } = target;
	const { settings, tally } = submission;
	const ids = [...(read?.known.ids() ?? [])].filter((id) => !stream.seen.has(id));
	submission.remark(...troubleHints(read?.troubles ?? {}));
	if (settings.mirrors && settings.dryRun) return await disableMissing(target);
	tally.plans.gone += ids.length;
	if (ids.length === 0 || !settings.mirrors) return;
	const memory = await target.newMemory().open('to send');
	target.memory = memory;
	try {
		if (memory.holder)
			submission.remark('Nothing was disabled: another run of this source is at work.');
		else if (memory.refusal) submission.refuse(knowledgebaseError(target.item, memory.refusal));
		else await disableMissing(target, '');
	} finally {
		await memory.close();
	}
	submission.remark(...troubleHints(memory.troubles));
}

const PLANS = {
	new: 'new',
	changed: 'changed',
	back: 'on the server but not found',
	unchanged: 'unchanged',
	gone: 'gone',
};

/** What was found, in one line. */
function lineOf({ counts: { disabled }, plans }: Tally): string {
	const parts = Object.entries(PLANS).flatMap(([plan, words]) => {
		const count = plans[plan as keyof Tally['plans']];
		return count > 0 ? `${count.toLocaleString('en')} ${words}` : [];
	});
	const outcome = disabled > 0 ? ` (${disabled} disabled)` : '';
	return `Documents: ${parts.join(', ') || 'none'}${outcome}.`;
}
