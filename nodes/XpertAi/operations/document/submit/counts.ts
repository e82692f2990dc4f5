import mapValues from 'lodash/mapValues';

import type { Plan } from '../../../ingest/planDocuments';
import type { StoringCounts } from '../../../ingest/storing';

/** The outcomes of documents, in the order of output, with their words in a count. */
const OUTCOMES = {
	/** Stored and processed. */
	found: 'found',
	/** Stored only. */
	stored: 'stored',
	unchanged: 'unchanged and not sent',
	replaced: 'replaced by a later one',
	disabled: 'disabled',
	rejected: 'rejected',
	unknown: 'unknown',
	notSent: 'not sent',
};

export type OutcomeName = keyof typeof OUTCOMES;

/** Documents by outcome. */
export const noCounts = () => ({ documents: 0, ...mapValues(OUTCOMES, () => 0) });

export type Counts = ReturnType<typeof noCounts>;

/** The counts in words, without zeros. */
export function countsInWords(counts: Counts): string {
	const kinds = Object.keys(OUTCOMES) as OutcomeName[];
	const parts = kinds.flatMap((kind) =>
		counts[kind] > 0 ? `${counts[kind]} ${OUTCOMES[kind]}` : [],
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
