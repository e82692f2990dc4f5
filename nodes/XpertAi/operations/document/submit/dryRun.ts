import type { SourceMemory } from '../../../ingest/memory';
import { askWhere } from '../../../ingest/processingStatus';
import { counted } from './counts';
import { knowledgebaseError } from './advice';
import { withCounts } from './errors';
import { goneFrom, isDisabledAlready, isTooMuch, missingOf, reasonInRun } from './gone';
import { recallMemory, troubleHints } from './memory';
import type { Submission } from './submission';
import type { Target } from './target';

/**
 * Tells what the next run would do with each document, and what it would take out of answers. Nothing is stored,
 * uploaded, processed or noted.
 *
 * @throws NodeApiError where what is remembered cannot be read: the next run would send nothing; with Stop, the
 * error of the first document that could not be read
 */
export async function showPlan(submission: Submission, targets: Target[]): Promise<void> {
	const { report } = submission;
	for (const target of targets) {
		if (report.stopError) break;
		const memory = await recallMemory(target);
		if (memory.refusal) throw knowledgebaseError(submission.first, memory.refusal);
		await target.plan(memory, ({ id, key, origin }, plan) =>
			report.addPlanned(plan, { name: origin.name, key, id }, origin),
		);
		await planGone(submission, target, memory);
		report.remark(...troubleHints(memory.troubles));
	}
	if (report.stopError) throw withCounts(report.stopError, report);
}

/** What the next run would disable, as `disableMissing` decides; what is not on the server any more is only forgotten. */
async function planGone(
	submission: Submission,
	target: Target,
	memory: SourceMemory,
): Promise<void> {
	const { first, report, settings } = submission;
	const { known, knownBefore: before, witness, troubles } = memory;
	if (!settings.mirrors || report.stopError) return;
	const gone = goneFrom(target, known);
	if (gone.length === 0) return;
	const reason = reasonInRun(submission, target);
	if (reason) return report.remark(`Nothing would be disabled: ${reason}.`);
	if (isTooMuch(missingOf(gone, known), before, settings.maxGonePercent)) {
		const of = `${missingOf(gone, known)} of ${counted(before, 'document')}`;
		const label = first.labelOf('maxGonePercent');
		return report.remark(
			`The next run would fail: ${of} did not come, more than "${label}" allows.`,
		);
	}
	const { statuses, failure } = await askWhere(gone, witness, target.memoryRoutes);
	troubles.notAsked ??= failure;
	const called = await memory.names.of(gone);
	for (const id of gone)
		if (statuses.has(id) && !isDisabledAlready(known, id, statuses.get(id)))
			report.addPlanned('gone', { ...called.get(id), id });
}
