import { groupBy, isEmpty, isNil, isUndefined, map, omitBy, pick } from 'lodash';
import type { IDataObject } from 'n8n-workflow';

import type { FieldValues } from '../../../execution/fieldBuilders';
import type { Item } from '../../../execution/item';
import { type OutputFormat, rawOrSelectedOutput } from '../../../execution/outputs';
import { isInStreamingChat, isTool } from '../../../execution/n8nExecution';
import type { CompletedResult, InterruptedResult } from '../../../runs/result';
import { CitationRewriter } from '../../../threads/citations';
import type { AnswerPart } from '../../../threads/runEventSchemas';
import { type NumberedPassage, sourcesOf } from '../../../threads/sources';
import { approvalDetails, waitingMessage } from '../../../threads/tasks';
import { parseAndCleanJson } from '../../../transport/answer';
import type { RunOptions } from './runSettings';
import { filterReport } from './filterReport';
import { chatSessionIdOf } from './chatTriggerSession';

/** The facts of a run that the node outputs. Most runs have only the first four facts. */
export const FACT_FIELDS = [
	...(['status', 'threadId', 'conversationId', 'runId'] as const),
	...(['rejected', 'remembered', 'discarded', 'cancelledRun'] as const),
];

/** The fields of a cited passage in simplified output, unless "Include" contains "Passages". */
const CITED_FIELDS = ['number', 'documentName', 'fileUrl', 'documentId'] as const;

/** The text after a person rejected the waiting tool calls. */
const REJECTED_ANSWER_TEXT = 'This was rejected, and not carried out.';

/** An item, and how to output its answer. */
type AnswerOutputSettings = OutputFormat & { item: Item; options: RunOptions };

/**
 * Returns the text of a run's answer (`output`) and the JSON of the output item.
 *
 * @param hasFilterValues whether the message contained values for filters
 */
export function answerOutputOf(
	request: AnswerOutputSettings,
	result: CompletedResult | InterruptedResult,
	hasFilterValues = false,
): { output: string; json: IDataObject } {
	const { citations: style, include } = request.options;
	// `content` is the text as the server sent it. `output` below is the text for the user, with links and sources.
	const { parts: allParts, otherParts, usage, output: content } = result;
	// The field `parts` of the output gets only `otherParts`, never all parts.
	const parts = isEmpty(otherParts) ? undefined : otherParts;
	const waitingTasks = result.status === 'interrupted' ? result.interrupt : undefined;
	const { text, sources } = textAndSources(result, style);
	const citedDocuments = documentNames(sources, style);
	const isListed = !isEmpty(citedDocuments) && listsSources(request);
	const output = isListed ? text + sourceListMarkdown(citedDocuments) : text;
	// While a run waits for a decision, it is unknown whether the filter values will be used.
	const filter = filterReport(allParts, hasFilterValues && !waitingTasks);
	const facts: FieldValues = pick(result as CompletedResult & InterruptedResult, FACT_FIELDS);
	const answer = {
		output,
		...facts,
		sources: include.includes('passages')
			? sources
			: sources.filter((one) => one.cited).map((one) => pick(one, CITED_FIELDS)),
		interrupt: waitingTasks?.map(approvalDetails),
		parts,
		usage,
		filter,
		intermediateSteps: include.includes('steps') ? stepsOf(allParts) : undefined,
	};
	const simplifiedOf = () => outputJson(request.item, answer, citedDocuments);
	if (request.simplify) return { output, json: simplifiedOf() };
	const rawAnswer = { content, ...facts, parts, sources, interrupt: waitingTasks, usage, filter };
	const raw = withoutUndefined({ role: 'ai', ...rawAnswer });
	return { output, json: rawOrSelectedOutput(request, request.item, raw, simplifiedOf) };
}

/** Returns the text for the user, with links in the chosen style, and the sources of the answer. */
function textAndSources(
	result: CompletedResult | InterruptedResult,
	style: RunOptions['citations'],
) {
	const allSources = sourcesOf(result.parts, result.threadParts);
	const citations = new CitationRewriter(allSources, style);
	const answer = 'rejected' in result ? REJECTED_ANSWER_TEXT : citations.rewrite(result.output);
	const text = result.status === 'interrupted' ? waitingMessage(result.interrupt) : answer;
	// `rewrite` has filled `citations.cited`.
	return { text, sources: allSources.list(citations.cited) };
}

/** Whether the text must end with the list of sources. A chat shows only the text. */
function listsSources({ item, options }: AnswerOutputSettings): boolean {
	if (options.include.includes('sources')) return true;
	if (options.citations !== 'numbers' || options.showInChat === 'hidden') return false;
	return isInStreamingChat(item.context) || !isNil(chatSessionIdOf(item));
}

/** The tool calls of a run in the format of n8n's AI Agent. `agent` is the name of the sub-agent that made the call. */
export function stepsOf(parts: AnswerPart[]) {
	return parts.flatMap(({ id = '', xpertName: agent, data }) => {
		if (data?.tool === undefined) return [];
		const { tool, input: toolInput } = data;
		const result = data.output ?? data.error;
		const observation = parseAndCleanJson(result);
		const action = { tool, toolInput, toolCallId: id, ...(agent !== undefined && { agent }) };
		return [{ action, ...(result !== undefined && { observation }) }];
	});
}

const withoutUndefined = (json: FieldValues) => omitBy(json, isUndefined) as IDataObject;

/** The fields that an agent needs to continue an incomplete run. */
const RESUME_FIELDS = ['status', 'threadId', 'runId', 'interrupt'];

/**
 * Returns the JSON of an output item. For an agent, leaves out most fields to save tokens.
 *
 * @param citedDocuments the names of the cited documents, which an agent gets as `sources`
 */
export function outputJson(
	{ context }: Item,
	json: FieldValues,
	citedDocuments: string[] = [],
): IDataObject {
	if (!isTool(context)) return withoutUndefined(json);
	const { status, output } = json;
	return withoutUndefined({
		...('output' in json && { output: output === '' ? EMPTY_ANSWER_TEXT : output }),
		...(!isEmpty(citedDocuments) && { sources: citedDocuments }),
		...pick(json, ['rejected', 'intermediateSteps']),
		...(status !== 'completed' && pick(json, RESUME_FIELDS)),
	});
}

/** A Markdown list of the cited documents, to append to an answer. */
const sourceListMarkdown = (names: string[]) =>
	`\n\nSources:\n${names.map((name) => `- ${name}`).join('\n')}`;

/** The names of the cited documents. With the style `numbers`, a name looks like `[1] guide.pdf`. */
function documentNames(sources: NumberedPassage[], style: RunOptions['citations']): string[] {
	const cited = sources.filter((one) => one.cited);
	return map(groupBy(cited, 'documentId'), (passages, id) => {
		const numbers = style === 'numbers' ? passages.map(({ number }) => `[${number}]`) : [];
		const name = passages.find(({ documentName }) => documentName)?.documentName ?? id;
		return [...numbers, name].join(' ');
	});
}

/** The text that chat visitors and agents get if the answer is empty. */
export const EMPTY_ANSWER_TEXT = 'The assistant gave no answer in words.';
