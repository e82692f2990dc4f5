import { isInLoop } from '../../../execution/audience';
import type { Item } from '../../../execution/item';
import { mayContinue } from '../../../execution/outputs';
import { namedRows, switchDocuments } from '../../../ingest/switchDocuments';
import type { SourceMemory } from '../../../ingest/memory';
import { processingState } from '../../../ingest/processingStatus';
import type { ProcessingStatus } from '../../../ingest/processingStatus';
import { failureMessage } from '../../../transport/failure';
import { counted } from './counts';
import { asHint } from './memory';
import { outermostMode } from './submission';
import type { Submission } from './submission';
import type { Target } from './target';

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
 * @throws NodeOperationError with Stop, if more are missing than Stop If More Than (%) Disappeared allows
 */
export async function disableMissing(target: Target): Promise<void> {
	const { memory, submission } = target;
	const { report, settings } = submission;
	const { dryRun, mirrors } = settings;
	if (!memory || !mirrors) return;
	const missing = missingFrom(target, memory);
	if (missing.ids.length === 0) return;
	const reason = reasonInRun(target) ?? (dryRun ? undefined : await reasonInMemory(memory));
	if (reason && dryRun) report.remark(`Nothing would be disabled: ${reason}.`);
	else if (reason) report.remark(`Nothing was disabled: ${reason}.`);
	else await (dryRun ? planDisabling : disableDocuments)(target, memory, missing);
}

/** The known documents that this run did not contain, and whether more of them are missing than allowed. */
function missingFrom(
	{ stream: { seen }, submission: { settings } }: Target,
	{ known, knownBefore }: SourceMemory,
) {
	const ids = [...known.ids()].filter((id) => !seen.has(id));
	// Documents changed by hand, or known from names alone, do not count as missing.
	const missingCount = ids.filter((id) => !known.uncertain.has(id)).length;
	return {
		ids,
		/** The number of missing documents, in words. */
		share: `${missingCount} of ${counted(knownBefore, 'document')}`,
		percent: percentage(missingCount, knownBefore),
		exceedsLimit: exceedsShare(missingCount, knownBefore, settings.maxGonePercent),
	};
}

type MissingDocuments = ReturnType<typeof missingFrom>;

/** Whether somebody has already disabled a missing document: the server then gives it no status. */
const isDisabledAlready = ({ known }: SourceMemory, id: string, status?: ProcessingStatus) =>
	known.uncertain.get(id) === 'disabled' && processingState(status) === 'none';

/** Why this run does not show the complete source. */
function reasonInRun({ stream: { seen }, submission }: Target): string | undefined {
	const { first, report, warnings, signal } = submission;
	const { rejected, unknown, notSent } = report.counts;
	const { withoutId } = warnings;
	const { emptyFiles } = warnings.counts;
	const documents = (count: number) => counted(count, 'document');
	if (signal?.aborted) return 'the execution was stopped';
	if (rejected > 0) return `${documents(rejected)} could not be read or stored`;
	if (unknown > 0) return `${documents(unknown)} may or may not be stored`;
	if (notSent > 0) return `${counted(notSent, 'document was', 'documents were')} not sent`;
	if (report.processingBroken) return 'the processing could not be started or followed';
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
async function planDisabling(
	target: Target,
	memory: SourceMemory,
	{ ids, share, exceedsLimit }: MissingDocuments,
): Promise<void> {
	const { first, report } = target.submission;
	const label = first.labelOf('options.maxGonePercent');
	if (exceedsLimit)
		return report.remark(
			`The next run would fail: ${share} are missing from this run, more than "${label}" allows.`,
		);
	const { statuses } = await target.statusesOf(ids, memory);
	const names = await memory.names.of(ids);
	for (const id of ids)
		if (statuses.has(id) && !isDisabledAlready(memory, id, statuses.get(id)))
			report.addPlanned('gone', { ...names.get(id), id });
}

/** Disables the missing documents of one knowledgebase after a complete run, unless they are too many. */
async function disableDocuments(
	{ memoryRoutes: routes, submission }: Target,
	memory: SourceMemory,
	missing: MissingDocuments,
): Promise<void> {
	const { first, report, settings } = submission;
	const { ids, share } = missing;
	const mode = outermostMode(first.context);
	if (mode === 'manual') {
		const limit = `more than ${settings.maxGonePercent} %`;
		const plan = missing.exceedsLimit ? `disable none: ${limit}` : 'disable them';
		return report.remark(`${share} are missing from this run. A scheduled run would ${plan}.`);
	}
	if (missing.exceedsLimit) return await refuseToDisable(submission, memory, missing);
	if (mode === 'integrated') report.remark(MODE_UNKNOWN);
	const names = await memory.names.of(ids);
	const failure = await switchDocuments(ids, {
		disabled: true,
		routes,
		witness: memory.witness,
		// Documents that the server has keep their names there.
		extraFields: namedRows(names),
		isSkipped: (id, status) => isDisabledAlready(memory, id, status),
		beforeChange: async (present) => await memory.journalChange(present),
		onSwitched: (id, isThere) => {
			memory.known.remove(id);
			if (isThere) report.addDisabled(id, names.get(id));
		},
	});
	if (failure)
		report.remark(
			asHint(`Documents that are gone were not all disabled. ${failureMessage(failure)}`),
		);
}

const MODE_UNKNOWN =
	'Disabled in a sub-workflow: this n8n does not say whether its parent was only tested, so it counts as scheduled.';

/** Too many documents are missing: the user has to confirm that this is intended. */
async function refuseToDisable(
	{ first, report, settings }: Submission,
	memory: SourceMemory,
	{ ids, share, percent }: MissingDocuments,
): Promise<void> {
	const examples = ids.slice(0, EXAMPLES);
	const names = await memory.names.of(examples);
	const named = examples.map((id) => names.get(id)?.name ?? id).join(', ');
	const label = `"${first.labelOf('options.maxGonePercent')}"`;
	const error = first.operationError(
		`Nothing was disabled: ${share} that this source stored earlier are missing from this run, more than ${label} allows (${settings.maxGonePercent})`,
		`All that came is stored. Missing are for example ${named}. If they are really gone from the source, set ${label} to ${percent} for one run.`,
	);
	if (!mayContinue(first.context)) throw error;
	report.addRefusal(error);
	report.remark(
		`Nothing was disabled: ${share} are missing from this run, more than ${label} allows.`,
	);
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
