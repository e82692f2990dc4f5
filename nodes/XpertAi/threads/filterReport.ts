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
	const found = searches.filter((search): search is Search => 'status' in search);
	const [failed] = searches.filter((search): search is FailedSearch => 'reason' in search);
	const status = STATUSES.find((one) => found.some((search) => search.status === one));
	const isFiltered = found.some((search) => FILTERED.includes(search.status));
	if (!hasValues && !isFiltered && !failed) return undefined;
	const hitCount = found.reduce((sum, search) => sum + search.hitCount, 0);
	return { status: status ?? 'notSearched', hitCount, ...failed };
}

/** The statuses of a search that had a filter. */
const FILTERED: string[] = ['applied', 'dynamic_fallback'];

type Search = Pick<FilterReport, 'hitCount'> & { status: (typeof STATUSES)[number] };
type FailedSearch = { reason: string };

function searchIn({ id, data }: Part): Search | FailedSearch | undefined {
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
	return typeof reason === 'string' ? { reason } : undefined;
}
