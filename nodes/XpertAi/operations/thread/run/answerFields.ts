import groupBy from 'lodash/groupBy';
import isEmpty from 'lodash/isEmpty';
import isUndefined from 'lodash/isUndefined';
import map from 'lodash/map';
import omitBy from 'lodash/omitBy';
import pick from 'lodash/pick';
import sumBy from 'lodash/sumBy';
import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod';

import {
	chatSessionOf,
	EMPTY_ANSWER,
	isInChat,
	isTool,
	rawOutput,
	waitingMessage,
} from '../../../execution/outputFor';
import type { AnswerOutput } from '../../../execution/outputFor';
import type { FieldValues } from '../../../execution/fields';
import type { Item } from '../../../execution/item';
import type { Completed, Interrupted } from '../../../runs/runResult';
import { requestOf } from '../../../threads/conversation';
import { Citations, type Source } from '../../../threads/sources';
import { sourcesOf, stepsOf, type Part } from '../../../threads/runEvents';
import { parseAnswer } from '../../../transport/answer';
import { sanitize } from '../../../transport/sanitize';
import type { RunOptions } from './options';

/** Facts of a run. Those from `rejected` on are output only when they apply. */
export const FACTS = [
	...(['status', 'threadId', 'conversationId', 'runId'] as const),
	...(['rejected', 'remembered', 'discarded', 'cancelledRun'] as const),
];

/** What is output of a cited passage. */
const CITED = ['number', 'documentName', 'fileUrl', 'documentId'] as const;

const REJECTED = 'This was rejected, and not carried out.';

/**
 * The answer of a run: its text as chats show it, and the JSON of the item, simplified or as the server answered.
 *
 * @param hasFilterValues whether the message contained values for filters
 */
export function answerOf(
	request: AnswerOutput & { item: Item; options: RunOptions },
	result: Completed | Interrupted,
	hasFilterValues = false,
): { output: string; json: IDataObject } {
	const { item, options } = request;
	const { citations: style, include } = options;
	const { parts: all, earlier, otherParts, usage, output: content } = result;
	const parts = isEmpty(otherParts) ? undefined : otherParts;
	const tasks = result.status === 'interrupted' ? result.interrupt : undefined;
	const runSources = sourcesOf(all, earlier);
	const citations = new Citations(runSources, style);
	const said = 'rejected' in result ? REJECTED : citations.rewrite(content);
	const text = tasks ? waitingMessage(tasks) : said;
	const sources = runSources.list(citations.cited);
	const cited = citedNames(sources, style);
	// A reader of a chat sees no other field.
	const isForChat = () => isInChat(item.context) || chatSessionOf(item) !== undefined;
	const isShown = style === 'numbers' && options.showInChat !== 'hidden';
	const isListed = include.includes('sources') || (isShown && isForChat());
	const output = isListed && !isEmpty(cited) ? text + listOf(cited) : text;
	// A waiting run may search later.
	const filter = filterReport(all, hasFilterValues && !tasks);
	const facts: FieldValues = pick(result as Completed & Interrupted, FACTS);
	if (!request.simplify) {
		const whole = { content, ...facts, parts, sources, interrupt: tasks, usage, filter };
		return { output, json: rawOutput(request, known({ role: 'ai', ...whole })) };
	}
	const answer = {
		output,
		...facts,
		sources: include.includes('passages')
			? sources
			: sources.filter((one) => one.cited).map((one) => pick(one, CITED)),
		interrupt: tasks?.map(requestOf),
		parts,
		usage,
		filter,
		intermediateSteps: include.includes('steps') ? stepsOf(all) : undefined,
	};
	return { output, json: forAudience(item, answer, cited) };
}

const known = (json: FieldValues) => omitBy(json, isUndefined) as IDataObject;

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
		.array(
			z.object({ filterStatus: z.enum(STATUSES).catch('unknown'), hitCount: z.number().catch(0) }),
		)
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

/** The hint about a search that was not filtered as intended. */
export function filterHint(filter: FilterReport | undefined): string | undefined {
	if (filter?.reason !== undefined) {
		const reason = sanitize(filter.reason);
		return `A search found nothing: ${reason} Give it in "Values for Filters", and ask anew.`;
	}
	return filter && FILTER_HINTS[filter.status];
}

const FILTER_HINTS: Partial<Record<FilterReport['status'], string>> = {
	not_applied:
		'Values for filters were given, but a search had no filter: the assistant was not built for it.',
	dynamic_fallback: 'The server dropped a filter that the model of the assistant had made.',
	notSearched: 'Values for filters were given, but no knowledge was looked into.',
};

/** What other tools of an agent need of a run that has not completed. */
const RESUME_FIELDS = ['status', 'threadId', 'runId', 'interrupt'];

/**
 * The JSON of an item for its reader. Models pay for each word, so the tool of an agent gives the answer, the names of
 * the cited sources and, if the run has not completed, what other tools need.
 */
export function forAudience(
	{ context }: Item,
	json: FieldValues,
	cited: string[] = [],
): IDataObject {
	if (!isTool(context)) return known(json);
	const { status, output } = json;
	return known({
		...('output' in json && { output: output === '' ? EMPTY_ANSWER : output }),
		...(!isEmpty(cited) && { sources: cited }),
		...pick(json, ['rejected', 'intermediateSteps']),
		...(status !== 'completed' && pick(json, RESUME_FIELDS)),
	});
}

/** A Markdown list of the cited documents. */
const listOf = (names: string[]) => `\n\nSources:\n${names.map((name) => `- ${name}`).join('\n')}`;

/** The names of the cited documents, each once, with the numbers of their passages. */
function citedNames(sources: Source[], style: RunOptions['citations']): string[] {
	const cited = sources.filter((one) => one.cited);
	return map(groupBy(cited, 'documentId'), (passages, id) => {
		const numbers = style === 'numbers' ? passages.map(({ number }) => `[${number}]`) : [];
		const name = passages.find(({ documentName }) => documentName)?.documentName ?? id;
		return [...numbers, name].join(' ');
	});
}
