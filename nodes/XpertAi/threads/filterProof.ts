import { z } from 'zod';

import { parseAnswer } from '../transport/answer';
import type { Part } from './runEvents';

/** How a search was filtered; the worst comes first. */
const STATUSES = ['not_applied', 'dynamic_fallback', 'unknown', 'applied'] as const;

/** What the searches of a run say of their filters. */
export interface FilterProof {
	/** `notSearched` where no knowledge was looked into; `unknown` for a step, which does not say it. */
	status: (typeof STATUSES)[number] | 'notSearched';
	/** How many passages were found. */
	hitCount: number;
	/** Why a search failed: its filter lacked a value, say. The run itself says success then. */
	reason?: string;
}

/** What a tool says of a search (recorded, `filters-retry`). */
const toolLook = z.object({
	diagnostics: z
		.array(z.object({ filterStatus: z.enum(STATUSES), hitCount: z.number().catch(0) }))
		.min(1),
});

/** What a failed tool says to its model, around the reason. */
const MISTAKEN = /^Error: (.*?)(?:\n Please fix your mistakes\.)?$/s;

/**
 * How the searches among the parts of a run were filtered: by what the tools tell, the worst of several.
 *
 * @param hasValues whether the message gave values for filters
 * @returns undefined where no value was given, and no search had a filter
 */
export function filterProof(parts: Part[], hasValues: boolean): FilterProof | undefined {
	const looks = parts.flatMap((part) => lookIn(part) ?? []);
	const found = looks.filter((look): look is Search => 'status' in look);
	const [failed] = looks.filter((look): look is Failed => 'reason' in look);
	const status = STATUSES.find((one) => found.some((look) => look.status === one));
	const isFiltered = found.some((look) => FILTERED.includes(look.status));
	if (!hasValues && !isFiltered && !failed) return undefined;
	const hitCount = found.reduce((sum, look) => sum + look.hitCount, 0);
	return { status: status ?? 'notSearched', hitCount, ...failed };
}

/** Those of searches that had a filter. */
const FILTERED: string[] = ['applied', 'dynamic_fallback'];

type Search = Pick<FilterProof, 'hitCount'> & { status: (typeof STATUSES)[number] };
type Failed = { reason: string };

function lookIn({ id, data }: Part): Search | Failed | undefined {
	if (!data) return undefined;
	const said = data.output ?? data.data;
	const answer = typeof said === 'string' ? parseAnswer(said) : said;
	const isStep = data.type === 'knowledges' || id?.endsWith('_channel');
	if (isStep && Array.isArray(answer)) return { status: 'unknown', hitCount: answer.length };
	const [told] = toolLook.safeParse(answer).data?.diagnostics ?? [];
	if (told) return { status: told.filterStatus, hitCount: told.hitCount };
	if (!data.tool?.startsWith('retriever-')) return undefined;
	const [, why] = MISTAKEN.exec(typeof said === 'string' ? said : '') ?? [];
	const reason = data.status === 'fail' ? data.error : why;
	return typeof reason === 'string' ? { reason } : undefined;
}
