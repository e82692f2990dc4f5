import { isInLoop } from '../../../execution/audience';
import type { Item } from '../../../execution/item';
import { namedRows, switchDocuments } from '../../../ingest/switchDocuments';
import type { SourceMemory } from '../../../ingest/memory';
import { processingState } from '../../../ingest/processingStatus';
import type { ProcessingStatus } from '../../../ingest/processingStatus';
import { failureMessage } from '../../../transport/failure';
import { outermostMode } from './submission';
import type { Target } from './target';
import { asHint, counted } from './wording';

/** Documents that a message names as examples. */
const EXAMPLES = 3;

/**
 * Refuses Mirror the Source in a loop, where each iteration contains only part of the documents.
 *
 * @throws NodeOperationError before anything is sent
 */
export function refuseInLoop(item: Item): void {
	if (!isInLoop(item.context)) return;
	item.refuse({
		subject: `"${item.labelOf('mode')}"`,
		demand:
			'cannot be "Mirror the Source (Remove What Is Gone)" in a loop, as that needs all documents in one run: take the node out of the loop, or choose "Send New and Changed"',
	});
}

/**
 * Disables the documents that this source stored earlier and that this run did not contain (When Run Again: Mirror
 * the Source). Only a complete run does so. A dry run reports them.
 *
 * @throws NodeOperationError with Stop, if more are missing than Stop If More Than (%) Are Gone allows
 */
export async function disableMissing(target: Target): Promise<void> {
	const { memory, stream, submission } = target;
	const { first, settings } = submission;
	const { dryRun, maxGonePercent, mirrors } = settings;
	if (!memory || !mirrors) return;
	const { known, knownBefore } = memory;
	const ids = [...known.ids()].filter((id) => !stream.seen.has(id));
	if (ids.length === 0) return;
	const reason = reasonInRun(target) ?? (dryRun ? undefined : await reasonInMemory(memory));
	if (reason && dryRun) return submission.remark(`Nothing would be disabled: ${reason}.`);
	if (reason) return submission.remark(`Nothing was disabled: ${reason}.`);
	// Documents changed by hand, or known from names alone, do not count as missing.
	const missing = ids.filter((id) => !known.uncertain.has(id)).length;
	const share = `${missing} of ${counted(knownBefore, 'document')}`;
	const label = `"${first.labelOf('options.maxGonePercent')}"`;
	const tooMany = `${share} are missing from this run, more than ${label} allows.`;
	const exceedsLimit = exceedsShare(missing, knownBefore, maxGonePercent);
	const mode = outermostMode(first.context);
	if (dryRun && exceedsLimit) return submission.remark(`The next run would fail: ${tooMany}`);
	if (dryRun) return await planDisabling(target, memory, ids);
	if (mode === 'manual') {
		const plan = exceedsLimit ? `disable none: more than ${maxGonePercent} %` : 'disable them';
		return submission.remark(`${share} are missing from this run. A scheduled run would ${plan}.`);
	}
	if (exceedsLimit) {
		const percent = percentage(missing, knownBefore);
		const examples = ids.slice(0, EXAMPLES);
		const names = await memory.names.of(examples);
		const named = examples.map((id) => names.get(id)?.name ?? id).join(', ');
		submission.refuse(
			first.operationError(
				`Nothing was disabled: ${share} that this source stored earlier are missing from this run, more than ${label} allows (${maxGonePercent})`,
				`All that came is stored. Missing are for example ${named}. If they are really gone from the source, set ${label} to ${percent} for one run.`,
			),
		);
		return submission.remark(`Nothing was disabled: ${tooMany}`);
	}
	if (mode === 'integrated') submission.remark(MODE_UNKNOWN);
	await disableDocuments(target, memory, ids);
}

const MODE_UNKNOWN =
	'Disabled in a sub-workflow: this n8n does not say whether its parent was only tested, so it counts as scheduled.';

/** Why this run does not show the complete source. */
function reasonInRun({ stream: { seen }, submission }: Target): string | undefined {
	const { first, signal, tally } = submission;
	const { counts, doubts, processingBroken, withoutId } = tally;
	const { rejected, unknown, notSent } = counts;
	const { emptyFiles } = doubts;
	const documents = (count: number) => counted(count, 'document');
	if (signal?.aborted) return 'the execution was stopped';
	if (rejected > 0) return `${documents(rejected)} could not be read or stored`;
	if (unknown > 0) return `${documents(unknown)} may or may not be stored`;
	if (notSent > 0) return `${counted(notSent, 'document was', 'documents were')} not sent`;
	if (processingBroken) return 'the processing could not be started or followed';
	if (emptyFiles > 0) return `${counted(emptyFiles, 'file')} of records held none`;
	if (withoutId > 0) return `${documents(withoutId)} came without an ID`;
	if (seen.size === 0) return 'the source brought no documents';
	if (Number(first.context.getWorkflowDataProxy(0).$runIndex) > 0)
		return 'the node ran more than once in this execution';
	return undefined;
}

/** Why missing documents are not disabled although this run is complete: it is perhaps not the only one. */
async function reasonInMemory(memory: SourceMemory): Promise<string | undefined> {
	if (!memory.isUsable) return 'this run cannot be remembered';
	return (await memory.check()) && 'whether another run of this source is at work is not known';
}

/** Reports what the next run would disable. Documents that are no longer on the server are not reported. */
async function planDisabling(target: Target, memory: SourceMemory, ids: string[]): Promise<void> {
	const { statuses } = await target.statusesOf(ids, memory);
	const names = await memory.names.of(ids);
	for (const id of ids)
		if (statuses.has(id) && !isDisabledAlready(memory, id, statuses.get(id)))
			target.submission.take({ outcome: 'planned', plan: 'gone', ...names.get(id), id });
}

/** Disables documents, and reports those that are still on the server. */
async function disableDocuments(
	{ memoryRoutes: routes, submission }: Target,
	memory: SourceMemory,
	ids: string[],
): Promise<void> {
	const names = await memory.names.of(ids);
	const failure = await switchDocuments(ids, {
		disabled: true,
		routes,
		requiredId: memory.requiredId,
		// Documents that the server has keep their names there.
		extraFields: namedRows(names),
		isSkipped: (id, status) => isDisabledAlready(memory, id, status),
		beforeChange: async (present) => await memory.journalChange(present),
		onSwitched: (id, isThere) => {
			memory.known.remove(id);
			if (isThere) submission.take({ outcome: 'disabled', ...names.get(id), id });
		},
	});
	if (failure)
		submission.remark(
			asHint(`Documents that are gone were not all disabled. ${failureMessage(failure)}`),
		);
}

/** Whether somebody has already disabled a missing document: the server then gives it no status. */
const isDisabledAlready = ({ known }: SourceMemory, id: string, status?: ProcessingStatus) =>
	known.uncertain.get(id) === 'disabled' && processingState(status) === 'none';

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
