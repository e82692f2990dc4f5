import { compact, omit, sum } from 'lodash';

import { OUTCOME_WORDS, PLAN_WORDS } from './documentReport';
import type { Submission } from './submission';
import { countWithNoun } from '../textHelpers';

/** Writes counts as text, such as `Documents: 2 stored, 1 rejected`. Leaves out zeros. */
export function countsInWords(
	counts: Record<string, number>,
	words: Record<string, string> = OUTCOME_WORDS,
): string {
	const parts = Object.entries(words).map(([name, word]) => {
		const count = counts[name];
		return count && `${count.toLocaleString('en')} ${word}`;
	});
	return `Documents: ${compact(parts).join(', ') || 'none'}`;
}

/** Choices of "Documents From" for which each item is one document. */
const ONE_DOCUMENT_CHOICES: unknown[] = ['text', 'files', 'addresses', 'fields'];

/** The summary line: what this run did, what it found (Find Changes), or what the next run would do (dry run). */
export function summaryLine({ isFindChanges, settings, tally }: Submission): string {
	const { counts, plans, requests } = tally;
	const { disabled, rejected } = OUTCOME_WORDS;
	if (isFindChanges)
		return `${countsInWords({ ...counts, ...plans }, { ...PLAN_WORDS, disabled, rejected })}.`;
	if (settings.dryRun) {
		const sent = `send ${plans.new} new, ${plans.changed} changed, ${plans.back} back again`;
		const refused = counts.rejected > 0 ? `, refuse ${counts.rejected}` : '';
		return `The next run would ${sent}, leave out ${plans.unchanged}, disable ${plans.gone}${refused}.`;
	}
	const { batches, retries } = requests;
	const tried = retries > 0 ? `, ${countWithNoun(retries, 'request')} tried again` : '';
	const sent = batches > 0 ? ` (${countWithNoun(batches, 'batch', 'batches')}${tried})` : '';
	return `${countsInWords(counts)}${sent}.`;
}

/** How far the run is. The number of all documents is known only if each item is one document. */
export function progressInWords({ first, isFindChanges, settings, tally }: Submission): string {
	const { counts, plans } = tally;
	const isOneEach = isFindChanges || ONE_DOCUMENT_CHOICES.includes(first.node.parameters.source);
	const inFull = (count: number) => count.toLocaleString('en');
	const all = isOneEach ? ` of ${inFull(first.context.getInputData().length)}` : '';
	if (isFindChanges || settings.dryRun)
		return `${inFull(counts.documents + sum(Object.values(omit(plans, 'gone'))))}${all} compared`;
	const stored = counts.found + counts.stored;
	return `${inFull(counts.documents)}${all} done, ${inFull(stored)} stored, ${inFull(counts.found)} found`;
}

export function processingFailedInWords({ tally }: Submission): string {
	const { processingFailed } = tally;
	return `${countWithNoun(processingFailed, 'document is', 'documents are')} stored but not found`;
}
