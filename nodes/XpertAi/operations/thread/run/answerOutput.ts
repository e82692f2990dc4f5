import { groupBy, isEmpty, isNil, isUndefined, map, omitBy, pick } from 'lodash';
import type { IDataObject } from 'n8n-workflow';

import type { FieldValues } from '../../../execution/fields';
import type { Item } from '../../../execution/item';
import { type AnswerOutput, isInChat, isTool, rawOutput } from '../../../execution/outputs';
import type { Completed, Interrupted } from '../../../runs/result';
import { Citations } from '../../../threads/citations';
import { stepsOf } from '../../../threads/runEvents';
import { type Source, sourcesOf } from '../../../threads/sources';
import { requestOf, waitingMessage } from '../../../threads/tasks';
import type { RunOptions } from './options';
import { filterReport } from './filterReport';
import { chatSessionOf } from './runRequest';

/** The facts of a run that the node outputs. Most runs have only the first four facts. */
export const FACTS = [
	...(['status', 'threadId', 'conversationId', 'runId'] as const),
	...(['rejected', 'remembered', 'discarded', 'cancelledRun'] as const),
];

/** The fields of a cited passage in simplified output, unless "Include" contains "Passages". */
const CITED = ['number', 'documentName', 'fileUrl', 'documentId'] as const;

const REJECTED = 'This was rejected, and not carried out.';

/**
 * Returns the text of a run's answer (`output`) and the JSON of the output item.
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
	const { parts: allParts, earlier, otherParts, usage, output: content } = result;
	const parts = isEmpty(otherParts) ? undefined : otherParts;
	const tasks = result.status === 'interrupted' ? result.interrupt : undefined;
	const runSources = sourcesOf(allParts, earlier);
	const citations = new Citations(runSources, style);
	const said = 'rejected' in result ? REJECTED : citations.rewrite(content);
	const text = tasks ? waitingMessage(tasks) : said;
	// `rewrite` has filled `citations.cited`.
	const sources = runSources.list(citations.cited);
	const cited = citedNames(sources, style);
	// A chat shows only `output`, so `output` must contain the list of sources.
	const isForChat = () => isInChat(item.context) || !isNil(chatSessionOf(item));
	const isShown = style === 'numbers' && options.showInChat !== 'hidden';
	const isListed = include.includes('sources') || (isShown && isForChat());
	const output = isListed && !isEmpty(cited) ? text + listOf(cited) : text;
	// While a run waits for a decision, it is unknown whether the filter values will be used.
	const filter = filterReport(allParts, hasFilterValues && !tasks);
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
		intermediateSteps: include.includes('steps') ? stepsOf(allParts) : undefined,
	};
	return { output, json: forAudience(item, answer, cited) };
}

const known = (json: FieldValues) => omitBy(json, isUndefined) as IDataObject;

/** The fields that an agent needs to continue an incomplete run. */
const RESUME_FIELDS = ['status', 'threadId', 'runId', 'interrupt'];

/**
 * Returns the JSON of an output item. For an agent, leaves out most fields to save tokens.
 *
 * @param cited the names of the cited sources
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

/** The names of the cited documents. With the style `numbers`, an entry looks like `[1] guide.pdf`. */
function citedNames(sources: Source[], style: RunOptions['citations']): string[] {
	const cited = sources.filter((one) => one.cited);
	return map(groupBy(cited, 'documentId'), (passages, id) => {
		const numbers = style === 'numbers' ? passages.map(({ number }) => `[${number}]`) : [];
		const name = passages.find(({ documentName }) => documentName)?.documentName ?? id;
		return [...numbers, name].join(' ');
	});
}

/** The text that chat visitors and agents get if the answer is empty. */
export const EMPTY_ANSWER = 'The assistant gave no answer in words.';
