import { mapValues } from 'lodash';
import type { IDataObject } from 'n8n-workflow';

import type { ItemError } from '../../../execution/apiError';
import type { ReadyDocument } from '../../../ingest/facts';
import { type Origin, type OutcomeName, OUTCOMES, PLANS } from './outcomes';

/** Makes an empty tally for the reports of a run. */
export const newTally = () => ({
	/** Number of documents, in total and by outcome. */
	counts: { documents: 0, ...mapValues(OUTCOMES, () => 0) },
	/** Number of documents by planned action, such as `changed`. */
	plans: mapValues(PLANS, () => 0),
	requests: { attempts: 0, batches: 0, retries: 0 },
	/** Documents that failed to be read, stored or processed, with the reason. At most MAX_FAILED_LISTED. */
	failed: [] as Array<
		Pick<Origin, 'name' | 'outcome' | 'key' | 'id'> & { reason: string; status?: number }
	>,
	/** Number of stored documents whose processing failed or could not be started. */
	processingFailed: 0,
	/** Whether a request to start or follow processing failed. */
	processingBroken: false,
	/** All documents of the run. Empty with Output = Summary. */
	origins: [] as Origin[],
	/** Documents that are missing from the source. Empty with Output = Summary. */
	missing: [] as IDataObject[],
	/** Errors about whole sources. */
	refusals: [] as ItemError[],
	/** Hints for the user, without repetitions. A number above 0 is a number of documents, and begins the hint. */
	remarks: new Map<string, number>(),
	/** The names of the sources that a hint is about. */
	remarkedSources: new Map<string, Set<string>>(),
	/** Documents that a later document of the run replaces, with the names of the first. */
	replaced: { count: 0, names: [] as string[] },
	/** The columns that match no field of a document, with Map Automatically. */
	unusedColumns: new Set<string>(),
	/** How often each case of `DOUBTS` occurred. */
	doubts: mapValues(DOUBTS, () => 0),
});

/** Input that the node accepts, but reports in a hint. */
export const DOUBTS = {
	emptyFiles: ['Files of records that held none', ''],
	withoutStableId: [
		'Documents without an ID',
		' A second run stores them again. A Document Key prevents that.',
	],
	withPartIds: ['Documents whose pages or chunks have IDs', ' On Xpert, one that changes is lost.'],
	pagesBesideFile: ['Documents with pages beside an address', ' The pages are not read.'],
	filePath: ['Documents with a File Path', ' The server looks for it on its own disk.'],
	missingMetadata: [
		'Values of Metadata Rows that were left out',
		' A part of their expression gave nothing.',
	],
	hadNul: ['Documents with characters that cannot be stored (U+0000)', ' They were left out.'],
} satisfies Record<string, [what: string, meaning: string]>;

export type Tally = ReturnType<typeof newTally>;

export const MAX_FAILED_LISTED = 1000;

/** Maximum number of names in the hint about replaced documents. */
export const MAX_REPLACED_NAMED = 3;

/** Counts the `DOUBTS` that apply to a document. */
export function addDoubts(
	{ doubts }: Tally,
	{ isNew, origin, record }: ReadyDocument<Origin>,
): void {
	const { filePath, fileUrl, pages, chunks } = record;
	const parts = [...(pages ?? []), ...(chunks ?? [])];
	if (origin.hadNul) doubts.hadNul += 1;
	if (isNew) doubts.withoutStableId += 1;
	if (parts.some(({ id }) => id)) doubts.withPartIds += 1;
	if (fileUrl && parts.length > 0) doubts.pagesBesideFile += 1;
	if (filePath && !fileUrl) doubts.filePath += 1;
}

export function isOnServer(outcome?: OutcomeName): outcome is 'found' | 'stored' | 'unchanged' {
	return outcome === 'found' || outcome === 'stored' || outcome === 'unchanged';
}

/** Sets and counts the outcome of a document. */
export function count({ counts }: Tally, origin: Origin, outcome: OutcomeName): void {
	origin.outcome = origin.isReplaced && isOnServer(outcome) ? 'replaced' : outcome;
	counts.documents += 1;
	counts[origin.outcome] += 1;
}

/** Moves a document from one count to another. Updates `origin`. */
export function recount(
	{ counts }: Tally,
	from: OutcomeName,
	to: OutcomeName,
	origin?: Origin,
): void {
	counts[from] -= 1;
	counts[to] += 1;
	if (origin) origin.outcome = to;
}
