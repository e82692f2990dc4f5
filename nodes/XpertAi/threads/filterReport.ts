import sumBy from 'lodash/sumBy';
import { z } from 'zod';

import { parseAnswer } from '../transport/answer';
import type { Part } from './runEvents';

/** How a search was filtered, the worst status first. */
const STATUSES = ['not_applied', 'dynamic_fallback', 'unknown', 'applied'] as const;

/** How the searches of a run were filtered. */
export interface FilterReport {
	/** `notSearched` if no knowledgebase was searched; `unknown` for a workflow step, which does not report it. */
	status: (typeof STATUSES)[number] | 'notSearched';
	/** Number of passages found. */
	hitCount: number;
	/** Why a search failed, e.g. its filter lacked a value. The status of the run is `success` all the same. */
	reason?: string;
}

/** The diagnostics that a tool reports of its search (recorded, `filters-retry`). */
const toolAnswer = z.object({
	diagnostics: z
		.array(z.object({ filterStatus: z.enum(STATUSES), hitCount: z.number().catch(0) }))
		.min(1),
});

/** The text around the reason when a tool fails. */
const TOOL_ERROR = /^Error: (.*?)(?:\n Please fix your mistakes\.)?$/s;

/**
 * Reports how the searches of a run were filtered, as its tools say. The worst status of several searches counts.
 *
 * @param hasValues whether the message contained values for filters
 * @returns undefined if there were no values and no search had a filter
 */
export function filterReport(parts: Part[], hasValues: boolean): FilterReport | undefined {
	const searches = parts.flatMap((part) => searchIn(part) ?? []);
	const reason = searches.find((search) => search.reason !== undefined)?.reason;
	const status = STATUSES.find((one) => searches.some((search) => search.status === one));
	const isFiltered = searches.some((search) => FILTERED.includes(search.status ?? ''));
	if (!hasValues && !isFiltered && reason === undefined) return undefined;
	const hitCount = sumBy(searches, 'hitCount');
	return { status: status ?? 'notSearched', hitCount, ...(reason !== undefined && { reason }) };
}

/** The statuses of a search that had a filter. */
const FILTERED = ['applied', 'dynamic_fallback'];

/** A search; a failed one has a reason instead of a status. */
type Search = Omit<FilterReport, 'status'> & { status?: (typeof STATUSES)[number] };

function searchIn({ id, data }: Part): Search | undefined {
	if (!data) return undefined;
	const output = data.output ?? data.data;
	const answer = typeof output === 'string' ? parseAnswer(output) : output;
	const isStep = data.type === 'knowledges' || id?.endsWith('_channel');
	if (isStep && Array.isArray(answer)) return { status: 'unknown', hitCount: answer.length };
	const [search] = toolAnswer.safeParse(answer).data?.diagnostics ?? [];
	if (search) return { status: search.filterStatus, hitCount: search.hitCount };
	if (!data.tool?.startsWith('retriever-')) return undefined;
	const [, cause] = TOOL_ERROR.exec(typeof output === 'string' ? output : '') ?? [];
	const reason = data.status === 'fail' ? data.error : cause;
	return typeof reason === 'string' ? { hitCount: 0, reason } : undefined;
}
