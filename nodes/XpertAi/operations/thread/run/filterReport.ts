import { compact, find, isString, map, sumBy } from 'lodash';
import { z } from 'zod';

import type { AnswerPart } from '../../../threads/runEventSchemas';
import { parseAndCleanJson } from '../../../transport/answer';
import { sanitizedLine } from '../../../transport/sanitizedLine';

/**
 * How a search was filtered. If several searches differ, the status that comes first in this list is reported. `unknown`:
 * no known status.
 */
const STATUSES = ['not_applied', 'dynamic_fallback', 'unknown', 'applied', 'notSearched'] as const;

/** The statuses of a filtered search. These are reported even if the message contained no values for filters. */
const FILTERED_STATUSES = ['applied', 'dynamic_fallback'];

/** The filter status and the hits of one search, or of all searches of a run. */
export interface FilterReport {
	/** `notSearched` means that there was no search, or the search failed. */
	status: (typeof STATUSES)[number];
	/** Number of passages found. */
	hitCount: number;
	/** Why a search failed, e.g. because a filter value was missing. */
	reason?: string;
}

/** How the server filtered one search. */
const diagnosticSchema = z.object({
	filterStatus: z.enum(STATUSES).catch('unknown'),
	hitCount: z.number().catch(0),
});

/** Reads the first entry of `diagnostics` in a tool's answer. Example: `test/recordings/filters-retry.json`. */
const searchAnswerSchema = z
	.object({ diagnostics: z.tuple([diagnosticSchema]).rest(z.unknown()) })
	.transform(({ diagnostics: [{ filterStatus: status, hitCount }] }) => ({ status, hitCount }));

/** Matches the result of a failed tool call. The first group is the reason. */
const TOOL_ERROR_PATTERN = /^Error: (.*?)(?:\n Please fix your mistakes\.)?$/s;

/**
 * Reports how the searches of a run were filtered. For several searches, returns the first status in the order of
 * `STATUSES`. So `notSearched` is returned only if no search has another status.
 *
 * @param hasValues whether the message contained values for filters
 * @returns undefined if there is nothing to report
 */
export function filterReport(parts: AnswerPart[], hasValues: boolean): FilterReport | undefined {
	const searches = compact(parts.map(searchReport));
	const reason = map(searches, 'reason').find(isString);
	const isFiltered = searches.some((search) => FILTERED_STATUSES.includes(search.status));
	if (!hasValues && !isFiltered && reason === undefined) return undefined;
	const found = map(searches, 'status');
	const status = STATUSES.find((one) => found.includes(one)) ?? 'notSearched';
	return { status, hitCount: sumBy(searches, 'hitCount'), reason };
}

/**
 * Reports one search: a knowledge step whose answer is a list of passages, any part whose answer has `diagnostics`, or
 * a failed call of a `retriever-` tool.
 *
 * @returns undefined if the part is not a search, or if the search has neither a result nor a reason of its failure
 */
function searchReport({ id, data }: AnswerPart): FilterReport | undefined {
	if (!data) return undefined;
	const output = data.output ?? data.data;
	const answer = typeof output === 'string' ? parseAndCleanJson(output) : output;
	// In the parts from `transcriptFromThread`, the ID of a workflow's knowledge step is the name of its field in
	// `state.values`, which ends with `_channel`.
	const isStep = data.type === 'knowledges' || id?.endsWith('_channel');
	// Such a step may only list its passages, without `diagnostics`.
	if (isStep && Array.isArray(answer)) return { status: 'unknown', hitCount: answer.length };
	const search = searchAnswerSchema.safeParse(answer).data;
	if (search) return search;
	const isSearchTool = data.tool?.startsWith('retriever-');
	if (!isSearchTool) return undefined;
	const [, errorText] = TOOL_ERROR_PATTERN.exec(isString(output) ? output : '') ?? [];
	const reason = data.status === 'fail' ? data.error : errorText;
	return isString(reason) ? { status: 'notSearched', hitCount: 0, reason } : undefined;
}

/** Returns a hint if a report shows a problem with a search or a filter. */
export function filterHint(filter: FilterReport | undefined) {
	if (filter?.reason !== undefined) {
		const { reason } = filter;
		return compact(['A search failed:', sanitizedLine(reason), filterAdvice(reason)]).join(' ');
	}
	if (filter?.status === 'applied' && filter.hitCount === 0) return NO_HITS_HINT;
	return filter && FILTER_HINTS[filter.status];
}

const NO_HITS_HINT =
	'A filtered search found no passage: compare "Values for Filters" with the metadata of the documents, capitals included.';

/** What to do about a search that failed because of its filter. Returns `undefined` for other reasons. */
export const filterAdvice = (reason = '') =>
	find(FILTER_ADVICE, (_, pattern) => new RegExp(pattern).test(reason));

/** Each key is a regular expression that matches a reason. Recorded in `test/recordings/knowledge-filter*.json`. */
const FILTER_ADVICE: Record<string, string> = {
	"Required fixed-filter variable 'env":
		'Only the filter of a step takes it: {"context": {"env": …}} in "Additional Fields (JSON)".',
	'Required fixed-filter variable':
		'Give it in "Values for Filters" (Key without "human."), and ask anew.',
	'Unknown knowledge filter field':
		'The knowledgebase does not know this field. If it is misspelt, correct the filter of the assistant on the server. If it is missing, take all fields of Knowledgebase: Get and this one, without "metadata.", into "Metadata Schema" of Knowledgebase: Update, which replaces them.',
	"Value type does not match|Filter strings cannot|Field '.*' requires|Value is not allowed for":
		'Correct the value or its Type in "Values for Filters", and ask anew.',
};

/** The hint for each status that shows a problem. */
const FILTER_HINTS: Partial<Record<FilterReport['status'], string>> = {
	not_applied:
		'Values for filters were given, but a search had no filter: give it one on the server, in the assistant.',
	dynamic_fallback: 'The server dropped a filter that the model of the assistant had made.',
	notSearched: 'Values for filters were given, but no knowledge was looked into.',
};
