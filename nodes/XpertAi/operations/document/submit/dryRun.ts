import { askWhere } from '../../../ingest/listedIds';
import { Fingerprints } from '../../../ingest/memory';
import type { Recalled } from '../../../ingest/memory';
import { counted } from '../../../ingest/summary';
import { isRouteMissing } from '../../../transport/meaning';
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
		const memory = await recall(submission, target);
		const before = memory.known.size;
		await target.plan(memory, ({ id, key, origin }, plan) =>
			report.addPlanned(plan, { name: origin.name, key, id }, origin),
		);
		await planGone(submission, target, memory, before);
		report.remark(...troubleHints(memory.troubles));
	}
	if (report.stopError) throw withCounts(report.stopError, report);
}

async function recall({ first, settings }: Submission, target: Target): Promise<Recalled> {
	const namesOf: Recalled['namesOf'] = async () => await Promise.resolve(new Map());
	const isUncertain = () => false;
	const lose = () => undefined;
	const nothing = {
		...{ known: new Fingerprints(), troubles: {}, isNew: false, lose, namesOf },
		...{ isUncertain, isDisabledByHand: isUncertain },
	};
	if (!settings.remembers) return nothing;
	const recalled = await recallMemory(target);
	if ('known' in recalled) return recalled;
	if (!isRouteMissing(recalled.failure)) throw knowledgebaseError(first, recalled.failure);
	return { ...nothing, troubles: { noRoute: true } };
}

/** What the next run would disable, as `disableMissing` decides; what is not on the server any more is only forgotten. */
async function planGone(
	submission: Submission,
	target: Target,
	memory: Recalled,
	before: number,
): Promise<void> {
	const { first, report, settings } = submission;
	const { known, witness, troubles } = memory;
	if (!settings.mirrors || report.stopError) return;
	const gone = goneFrom(target, known);
	if (gone.length === 0) return;
	const reason = reasonInRun(submission, target);
	if (reason) return report.remark(`Nothing would be disabled: ${reason}.`);
	if (isTooMuch(missingOf(gone, memory), before, settings.maxGonePercent)) {
		const of = `${missingOf(gone, memory)} of ${counted(before, 'document')}`;
		const label = first.labelOf('maxGonePercent');
		return report.remark(
			`The next run would fail: ${of} did not come, more than "${label}" allows.`,
		);
	}
	const { statuses, failure } = await askWhere(gone, witness, target.memoryRoutes);
	troubles.notAsked ??= failure;
	const called = await memory.namesOf(gone);
	for (const id of gone)
		if (statuses.has(id) && !isDisabledAlready(memory, id, statuses.get(id)))
			report.addPlanned('gone', { ...called.get(id), id });
}
