import isEmpty from 'lodash/isEmpty';
import pick from 'lodash/pick';
import uniq from 'lodash/uniq';
import type { IDataObject } from 'n8n-workflow';

import { EMPTY_ANSWER, isTool, waitingFor } from '../../../execution/audience';
import type { Item } from '../../../execution/item';
import type { RunResult } from '../../../runs/result';
import { Citations } from '../../../threads/sources';
import { filterReport } from '../../../threads/filterReport';
import type { FilterReport } from '../../../threads/filterReport';
import { sourcesOf, stepsOf } from '../../../threads/runEvents';
import type { Source } from '../../../threads/sources';
import { sanitize } from '../../../transport/sanitize';
import type { AnswerOptions } from './options';

interface Told extends IDataObject {
	/** What a chat shows in every response mode. */
	output: string;
}

/**
 * What an assistant said, or that a person is to decide, with links to sources as they are wanted, and what it rests
 * on: sources, tokens where the server counts them, and the calls of tools where they are wanted.
 *
 * @param hasFilterValues whether the message gave values for filters, which then may not have counted
 * @returns fields of the output item
 */
export function answerFields(
	{ output, interrupt, parts = [], earlier, usage }: RunResult,
	{ citations: style, listSources, returnIntermediateSteps }: AnswerOptions,
	hasFilterValues = false,
): Told {
	const found = sourcesOf(parts, earlier);
	const citations = new Citations(found, style);
	const answer =
		interrupt || output === undefined ? waitingFor(interrupt) : citations.rewrite(output);
	const sources = found.list(citations.cited);
	// What waits for a person may still search.
	const filter = filterReport(parts, hasFilterValues && !interrupt);
	return {
		output: listSources ? answer + listOf(sources, style) : answer,
		...(filter && { filter }),
		sources,
		...(usage && { usage }),
		...(returnIntermediateSteps && { intermediateSteps: stepsOf(parts) }),
	};
}

/** What a user should know of a search that was not filtered as it was meant to be. */
export function filterHint(filter: FilterReport | undefined): string | undefined {
	if (filter?.reason !== undefined) {
		const why = sanitize(filter.reason);
		return `A search found nothing: ${why} Give it in "Values for Filters", and ask anew.`;
	}
	switch (filter?.status) {
		case 'not_applied':
			return 'Values for filters were given, but a search had no filter: the assistant was not built for it.';
		case 'dynamic_fallback':
			return 'The server dropped a filter that the model of the assistant had made.';
		case 'notSearched':
			return 'Values for filters were given, but no knowledge was looked into.';
		default:
			return undefined;
	}
}

/** What other tools of an agent need of a run that has not ended. */
const TO_GO_ON = ['status', 'threadId', 'runId', 'interrupt'];

/**
 * The JSON of an item as its reader needs it. Models pay for each word: the tool of an agent gives the answer and the
 * names of its cited sources, and of a run that has not ended what other tools need.
 */
export function forAudience(
	{ context }: Item,
	json: IDataObject,
	style: AnswerOptions['citations'] = 'none',
): IDataObject {
	if (!isTool(context)) return json;
	const { status, output, sources = [] } = json;
	const cited = citedNames(sources as Source[], style);
	return {
		...('output' in json && { output: output === '' ? EMPTY_ANSWER : output }),
		...(!isEmpty(cited) && { sources: cited }),
		...pick(json, ['rejected', 'intermediateSteps']),
		...(status !== 'completed' && pick(json, TO_GO_ON)),
	};
}

/** The documents that an answer cites, as a list in Markdown; nothing where it cites none. */
export function listOf(sources: Source[], style: AnswerOptions['citations']): string {
	const names = citedNames(sources, style);
	return isEmpty(names) ? '' : `\n\nSources:\n${names.map((name) => `- ${name}`).join('\n')}`;
}

/** The documents that an answer cites, each once by its name, with the numbers of its passages. */
function citedNames(sources: Source[], style: AnswerOptions['citations']): string[] {
	const cited = sources.filter((one) => one.cited);
	const documents = uniq(cited.map(({ documentId }) => documentId));
	return documents.map((id) => {
		const passages = cited.filter(({ documentId }) => documentId === id);
		const numbers = style === 'numbers' ? passages.map(({ number }) => `[${number}]`) : [];
		const name = passages.find(({ documentName }) => documentName)?.documentName ?? id;
		return [...numbers, name].join(' ');
	});
}
