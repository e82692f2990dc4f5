import type { SourceMemory } from '../../../ingest/memory';
import { askStatuses } from '../../../ingest/processingStatus';
import { knowledgebaseError } from './advice';
import { withCounts } from './errors';
import { missingFrom, isDisabledAlready, reasonInRun } from './disableMissing';
import { memoryOf, troubleHints } from './memory';
import type { Submission } from './submission';
import type { Target } from './target';

/**
 * Reports what the next run would do with each document, and which documents it would disable. Nothing is stored,
 * uploaded, processed or noted.
 *
 * @throws NodeApiError if the memory cannot be read: the next run would send nothing; with Stop, the error of the
 * first document that could not be read
 */
export async function showPlan(submission: Submission, targets: Target[]): Promise<void> {
	const { report, settings } = submission;
	for (const target of targets) {
		if (report.stopError) break;
		const memory = memoryOf(target);
		if (settings.remembers) await memory.open('to read');
		if (memory.refusal) throw knowledgebaseError(submission.first, memory.refusal);
		await target.plan(memory, ({ id, key, origin }, plan) =>
			report.addPlanned(plan, { name: origin.name, key, id }, origin),
		);
		await planDisabling(submission, target, memory);
		report.remark(...troubleHints(memory.troubles));
	}
	if (report.stopError) throw withCounts(report.stopError, report);
}

/**
 * Reports what the next run would disable, by the rules of `disableMissing`. Documents that are no longer on the
 * server are not reported.
 */
async function planDisabling(
	submission: Submission,
	target: Target,
	memory: SourceMemory,
): Promise<void> {
	const { first, report, settings } = submission;
	const { known, witness, troubles } = memory;
	if (!settings.mirrors || report.stopError) return;
	const { ids, share, exceedsLimit } = missingFrom(target, memory);
	if (ids.length === 0) return;
	const reason = reasonInRun(submission, target);
	if (reason) return report.remark(`Nothing would be disabled: ${reason}.`);
	const label = first.labelOf('options.maxGonePercent');
	if (exceedsLimit)
		return report.remark(
			`The next run would fail: ${share} did not come, more than "${label}" allows.`,
		);
	const { statuses, failure } = await askStatuses(ids, target.memoryRoutes, witness);
	troubles.notAsked ??= failure;
	const names = await memory.names.of(ids);
	for (const id of ids)
		if (statuses.has(id) && !isDisabledAlready(known, id, statuses.get(id)))
			report.addPlanned('gone', { ...names.get(id), id });
}
