import difference from 'lodash/difference';
import pick from 'lodash/pick';
import { isExpression } from 'n8n-workflow';

import { isInLoop } from '../../../execution/outputFor';
import { quoted } from '../../../execution/inputIssues';
import type { Item } from '../../../execution/item';
import type { SourceMemory } from '../../../ingest/memory';
import { fetchStatuses, processingState } from '../../../ingest/processingStatus';
import { switchDocuments } from '../../../ingest/switchDocuments';
import { failureMessage, type Failure } from '../../../transport/failure';
import { outermostMode } from './submission';
import type { Target } from './target';
import { asHint, counted } from './wording';

/** Documents that a message names as examples. */
const EXAMPLES = 3;

export const MIRROR = 'Mirror the Source (Remove What Is Gone)';

/**
 * Refuses a choice that disables what is gone in a loop, where each iteration contains only part of the documents.
 *
 * @throws NodeOperationError before anything is sent
 */
export function refuseInLoop(item: Item, name: string, choice: string, other: string): void {
	if (!isInLoop(item.context)) return;
	item.refuseField(
		name,
		`cannot be "${choice}" in a loop, as that needs all documents in one run: take the node out of the loop, or choose "${other}"`,
	);
}

/**
 * Refuses Mirror the Source behind Find Changes, which passes on a part of the source. An older n8n does not tell the
 * parameters of other nodes.
 *
 * @throws NodeOperationError before anything is sent
 */
export function refuseBehindFindChanges(item: Item): void {
	const { name, type, parameters } = item.context.getNode();
	const own = parameters.sourceName;
	const isOfThis = (other: unknown) => !own || other === own || [own, other].some(isExpression);
	const found = item.context
		.getParentNodes(name, { includeNodeParameters: true })
		.filter((node) => node.type === type && !node.disabled)
		.find(
			({ parameters: { operation, sourceName } = {} }) =>
				operation === 'findChanges' && isOfThis(sourceName),
		);
	if (!found) return;
	item.refuseField(
		'mode',
		`cannot be "${MIRROR}" behind ${quoted(found.name)}, which passes on only what changed: choose "Send New and Changed"`,
	);
}

/** Ways of starting a workflow in which its items are today's source: not by hand, as a test or as a repetition. */
const REMOVING_MODES: unknown[] = ['trigger', 'webhook', 'chat', 'cli', 'error', 'integrated'];

/**
 * Disables the documents that this source stored earlier and that this run did not contain (When Run Again: Mirror
 * the Source). Only a complete run does so. A dry run reports them.
 *
 * @param before what the error says of what the run has done by then
 * @throws NodeOperationError with Stop, if more are missing than Stop If More Than (%) Are Gone allows
 */
export async function disableMissing(
	target: Target,
	before = 'All that came is stored. ',
): Promise<void> {
	const { memory, memoryRoutes: routes, stream, submission } = target;
	const { first, settings } = submission;
	const { dryRun, maxGonePercent, mirrors } = settings;
	if (!memory || !mirrors) return;
	const { known, knownBefore, requiredId } = memory;
	const ids = [...known.ids()].filter((id) => !stream.seen.has(id));
	if (ids.length === 0) return;
	const reason = await reasonToKeep(target, memory);
	if (reason)
		return submission.remark(`Nothing ${dryRun ? 'would be' : 'was'} disabled: ${reason}.`);
	const { statuses, failure } = await fetchStatuses(ids, routes, requiredId);
	if (failure) return submission.remark(notAll(failure));
	// A document without a status was disabled by hand; but one that was only stored again has none either.
	const isOutAlready = (id: string) =>
		known.isDone(id, true) && processingState(statuses.get(id)) === 'none';
	const toDisable = ids.filter((id) => statuses.has(id) && !isOutAlready(id));
	// Documents that were rebuilt from names may have been disabled long ago.
	const missing = ids.filter((id) => !isOutAlready(id) && !known.rebuilt.has(id));
	const share = `${missing.length} of ${counted(knownBefore, 'document')}`;
	const label = `"${first.labelOf('options.maxGonePercent')}"`;
	const tooMany = `${share} are missing from this run, more than ${label} allows.`;
	const exceedsLimit = exceedsShare(missing.length, knownBefore, maxGonePercent);
	const mode = outermostMode(first.context);
	if (dryRun && exceedsLimit) return submission.remark(`The next run would fail: ${tooMany}`);
	const named = async (some: string[]) => await memory.names.of(some);
	if (dryRun) {
		const names = await named(toDisable);
		for (const id of toDisable)
			submission.take({ outcome: 'planned', plan: 'gone', ...names.get(id), id });
		return;
	}
	if (!REMOVING_MODES.includes(mode)) {
		const plan = exceedsLimit ? `disable none: more than ${maxGonePercent} %` : 'disable them';
		return submission.remark(`${share} are missing from this run. A scheduled run would ${plan}.`);
	}
	if (exceedsLimit) {
		const examples = missing.slice(0, EXAMPLES);
		const names = await named(examples);
		const listed = examples.map((id) => names.get(id)?.name ?? id).join(', ');
		const percent = percentage(missing.length, knownBefore);
		submission.refuse(
			first.operationError(
				`Nothing was disabled: ${share} that this source stored earlier are missing from this run, more than ${label} allows (${maxGonePercent})`,
				`${before}Missing are for example ${listed}. If they are really gone from the source, set ${label} to ${percent} for one run.`,
			),
		);
		return submission.remark(`Nothing was disabled: ${tooMany}`);
	}
	if (mode === 'integrated') submission.remark(MODE_UNKNOWN);
	for (const id of difference(ids, toDisable)) known.remove(id);
	const names = await named(toDisable);
	const notDisabled = await switchDocuments(toDisable, {
		disabled: true,
		routes,
		fieldsOf: (id) => pick(names.get(id), 'name'),
		beforeChange: async (some) => await memory.journalChange(some),
		onSwitched: (id) => {
			known.remove(id);
			submission.take({ outcome: 'disabled', ...names.get(id), id });
		},
	});
	if (notDisabled) submission.remark(notAll(notDisabled));
}

const MODE_UNKNOWN =
	'Disabled in a sub-workflow: this n8n does not say whether its parent was only tested, so it counts as scheduled.';

const notAll = (failure: Failure) =>
	asHint(`Documents that are gone were not all disabled. ${failureMessage(failure)}`);

/** Why no document may be disabled: the run does not show the whole source, or is perhaps not the only one. */
async function reasonToKeep(
	{ stream: { brokenKey, gaps, seen }, submission }: Target,
	memory: SourceMemory,
): Promise<string | undefined> {
	const { first, signal, tally, unassigned } = submission;
	const { doubts, processingBroken, withoutId } = tally;
	const { emptyFiles } = doubts;
	const documents = (count: number) => counted(count, 'document');
	if (signal?.aborted) return 'the execution was stopped';
	const rejected = gaps.rejected + unassigned;
	if (rejected > 0) return `${documents(rejected)} could not be read or stored`;
	if (gaps.unknown > 0) return `${documents(gaps.unknown)} may or may not be stored`;
	if (gaps.notSent > 0)
		return `${counted(gaps.notSent, 'document was', 'documents were')} not sent`;
	if (processingBroken) return 'the processing could not be started or followed';
	if (emptyFiles > 0) return `${counted(emptyFiles, 'file')} of records held none`;
	if (withoutId > 0) return `${documents(withoutId)} came without an ID`;
	if (brokenKey !== undefined) return `the key ${quoted(brokenKey)} lacks a part`;
	if (seen.size === 0) return 'the source brought no documents';
	if (Number(first.context.getWorkflowDataProxy(0).$runIndex) > 0)
		return 'the node ran more than once in this execution';
	if (!memory.isUsable) return 'this run cannot be remembered';
	return (await memory.check()) && 'whether another run of this source is at work is not known';
}

/** Fewer missing documents than this are always allowed: any source may lose them in a day. */
const ALWAYS_ALLOWED_BELOW = 10;

/**
 * Whether more documents are missing than allowed. A few are always allowed, unless they are half of the source or
 * the limit is 0.
 */
export function exceedsShare(missing: number, before: number, maxPercent: number): boolean {
	const isFew = missing < ALWAYS_ALLOWED_BELOW && missing * 2 < before && maxPercent > 0;
	return !isFew && percentage(missing, before) > maxPercent;
}

/** A share in percent, rounded up, so that a limit of that number allows it. */
function percentage(part: number, whole: number): number {
	return whole === 0 ? 0 : Math.ceil((part * 100) / whole);
}
