import type { Plan } from '../../../ingest/planDocuments';
import type { StoringCounts } from '../../../ingest/storing';

/** Documents by outcome. `found`: stored and processed; `stored`: stored only. */
export const noCounts = () => ({
	documents: 0,
	found: 0,
	stored: 0,
	unchanged: 0,
	replaced: 0,
	disabled: 0,
	rejected: 0,
	unknown: 0,
	notSent: 0,
});

export type Counts = ReturnType<typeof noCounts>;

/** The words for the counts, in the order of output. */
const LABELS: Array<[keyof Counts, string]> = [
	['found', 'found'],
	['stored', 'stored'],
	['unchanged', 'unchanged and not sent'],
	['replaced', 'replaced by a later one'],
	['disabled', 'disabled'],
	['rejected', 'rejected'],
	['unknown', 'unknown'],
	['notSent', 'not sent'],
];

/** The counts in words, without zeros. */
export function countsInWords(counts: Counts): string {
	const parts = LABELS.flatMap(([kind, words]) =>
		counts[kind] > 0 ? `${counts[kind]} ${words}` : [],
	);
	return `Documents: ${parts.join(', ') || 'none'}`;
}

/** A run in one line. */
export function runInWords(counts: Counts, { batches, retries }: StoringCounts): string {
	const tried = retries > 0 ? `, ${counted(retries, 'request')} tried again` : '';
	const sent = batches > 0 ? ` (${counted(batches, 'batch', 'batches')}${tried})` : '';
	return `${countsInWords(counts)}${sent}.`;
}

/** What the next run would do, in one line. */
export function planInWords(plans: Record<Plan, number>, { rejected }: Counts): string {
	const sent = `send ${plans.new} new, ${plans.changed} changed, ${plans.back} back again`;
	const refused = rejected > 0 ? `, refuse ${rejected}` : '';
	return `The next run would ${sent}, leave out ${plans.unchanged}, disable ${plans.gone}${refused}.`;
}

/** A number with a word in the right form: `counted(1, 'was', 'were')`. */
export function counted(count: number, one: string, many = `${one}s`): string {
	return `${count} ${count === 1 ? one : many}`;
}
