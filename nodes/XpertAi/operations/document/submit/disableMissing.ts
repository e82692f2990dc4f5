import { isInLoop } from '../../../execution/audience';
import type { Item } from '../../../execution/item';
import { mayContinue } from '../../../execution/outputs';
import { namedRows, switchDocuments } from '../../../ingest/switchDocuments';
import type { Switching } from '../../../ingest/switchDocuments';
import type { Fingerprints, SourceMemory } from '../../../ingest/memory';
import { processingState } from '../../../ingest/processingStatus';
import type { ProcessingStatus } from '../../../ingest/processingStatus';
import { failureMessage } from '../../../transport/failure';
import { counted } from './counts';
import { asHint } from './memory';
import type { KnowledgebaseRoutes } from './routes';
import { isManualRun, outermostMode } from './submission';
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
 * the Source). Only a complete run does so.
 *
 * @throws NodeOperationError with Stop, if more are missing than Stop If More Than (%) Disappeared allows
 */
export async function disableMissing(submission: Submission, target: Target): Promise<void> {
	const { memory } = target;
	if (!memory || !submission.settings.mirrors) return;
	const missing = missingFrom(target, memory);
	if (missing.ids.length === 0) return;
	const reason = await reasonToKeep(submission, target, memory);
	if (reason) submission.report.remark(`Nothing was disabled: ${reason}.`);
	else await disableDocuments(submission, target, memory, missing);
}

/** The known documents that this run did not contain, and whether more of them are missing than allowed. */
export function missingFrom(
	{ stream: { seenIds }, submission: { settings } }: Target,
	{ known, knownBefore }: SourceMemory,
) {
	const ids = [...known.ids()].filter((id) => !seenIds.has(id));
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
export const isDisabledAlready = (known: Fingerprints, id: string, status?: ProcessingStatus) =>
	known.uncertain.get(id) === 'disabled' && processingState(status) === 'none';

/** The options to disable documents. Documents that the server has are reported by name, and keep their names there. */
async function switchOptions(
	{ execution, report }: Submission,
	memory: SourceMemory,
	{ routes, ids }: { routes: KnowledgebaseRoutes; ids: string[] },
): Promise<Switching> {
	const names = await memory.names.of(ids);
	if (outermostMode(execution.context) === 'integrated') report.remark(MODE_UNKNOWN);
	const onSwitched = (id: string, isThere: boolean) => {
		memory.known.remove(id);
		if (isThere) report.addDisabled(id, names.get(id));
	};
	const beforeChange = async (present: string[]) => await memory.journalChange(present);
	const { witness } = memory;
	const isSkipped: Switching['isSkipped'] = (id, status) =>
		isDisabledAlready(memory.known, id, status);
	const extraFields = namedRows(names);
	return { disabled: true, witness, isSkipped, beforeChange, routes, extraFields, onSwitched };
}

const MODE_UNKNOWN =
	'Disabled in a sub-workflow: this n8n does not say whether its parent was only tested, so it counts as scheduled.';

/** Why this run does not show the complete source. */
export function reasonInRun(
	{ execution, report, warnings, signal }: Submission,
	{ stream: { seenIds } }: Target,
): string | undefined {
	const { rejected, unknown, notSent } = report.counts;
	const { emptyFiles, withoutId } = warnings;
	const documents = (count: number) => counted(count, 'document');
	if (signal?.aborted) return 'the execution was stopped';
	if (rejected > 0) return `${documents(rejected)} could not be read or stored`;
	if (unknown > 0) return `${documents(unknown)} may or may not be stored`;
	if (notSent > 0) return `${counted(notSent, 'document was', 'documents were')} not sent`;
	if (report.processingBroken) return 'the processing could not be started or followed';
	if (emptyFiles > 0) return `${counted(emptyFiles, 'file')} of records held none`;
	if (withoutId > 0) return `${documents(withoutId)} came without an ID`;
	if (seenIds.size === 0) return 'the source brought no documents';
	if (Number(execution.context.getWorkflowDataProxy(0).$runIndex) > 0)
		return 'the node ran more than once in this execution';
	return undefined;
}

/** Why missing documents are not disabled: the run is incomplete, or perhaps not the only one. */
async function reasonToKeep(
	submission: Submission,
	target: Target,
	memory: SourceMemory,
): Promise<string | undefined> {
	const reason = reasonInRun(submission, target);
	if (reason) return reason;
	if (!memory.isUsable) return 'this run cannot be remembered';
	return (await memory.check())
		? 'whether another run of this source is at work is not known'
		: undefined;
}

/** Disables the missing documents of one knowledgebase after a complete run, unless they are too many. */
async function disableDocuments(
	submission: Submission,
	{ memoryRoutes: routes }: Target,
	memory: SourceMemory,
	missing: MissingDocuments,
): Promise<void> {
	const { execution, report, settings } = submission;
	const { ids, share } = missing;
	if (isManualRun(execution.context)) {
		const limit = `more than ${settings.maxGonePercent} %`;
		const plan = missing.exceedsLimit ? `disable none: ${limit}` : 'disable them';
		return report.remark(`${share} did not come this time. A scheduled run would ${plan}.`);
	}
	if (missing.exceedsLimit)
		return refuseToDisable(submission, missing, await examplesOf(ids, memory));
	const switching = await switchOptions(submission, memory, { routes, ids });
	const failure = await switchDocuments(ids, switching);
	if (failure)
		report.remark(
			asHint(`Documents that are gone were not all disabled. ${failureMessage(failure)}`),
		);
}

/** The names of some documents. */
async function examplesOf(ids: string[], memory: SourceMemory): Promise<string> {
	const examples = ids.slice(0, EXAMPLES);
	const names = await memory.names.of(examples);
	return examples.map((id) => names.get(id)?.name ?? id).join(', ');
}

/** Too many documents are missing: the user has to confirm that this is intended. */
function refuseToDisable(
	{ first, report, settings }: Submission,
	{ share, percent }: MissingDocuments,
	examples: string,
): void {
	const label = `"${first.labelOf('options.maxGonePercent')}"`;
	const error = first.operationError(
		`Nothing was disabled: ${share} that this source stored earlier did not come this time, more than ${label} allows (${settings.maxGonePercent})`,
		`All that came is stored. Missing are for example ${examples}. If they are really gone from the source, set ${label} to ${percent} for one run.`,
	);
	if (!mayContinue(first.context)) throw error;
	report.addRefusal(error);
	report.remark(`Nothing was disabled: ${share} did not come, more than ${label} allows.`);
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
