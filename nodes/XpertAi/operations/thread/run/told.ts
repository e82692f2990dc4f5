import get from 'lodash/get';
import uniq from 'lodash/uniq';
import type { IDataObject } from 'n8n-workflow';

import type { Verdict } from '../../../runs/verdict';
import { Citations, sourcesOf } from '../../../threads/citations';
import type { Source } from '../../../threads/sources';
import { stepsIn } from '../../../threads/steps';
import { usageIn } from '../../../threads/usage';
import { serverWords } from '../../../transport/serverWords';
import type { Telling } from './options';

interface Told extends IDataObject {
	/** What a chat shows in every response mode. */
	output: string;
}

/**
 * What an assistant said, or that a person is to decide, with links to sources as they are wanted, and what it rests
 * on: sources, tokens where the server counts them, and the calls of tools where they are wanted.
 *
 * @returns fields of the output item
 */
export function toldBy(
	{ output, interrupt, thread, messages = [] }: Verdict,
	{ citations: style, listSources, returnIntermediateSteps }: Telling,
): Told {
	const found = sourcesOf(thread, messages);
	const citations = new Citations(found, style);
	const answer = output === undefined ? waitingFor(interrupt) : citations.rewrite(output);
	const sources = found.list(citations.cited);
	const usage = usageIn(messages);
	return {
		output: listSources ? answer + listOf(sources, style) : answer,
		sources,
		...(usage && { usage }),
		...(returnIntermediateSteps && thread && { intermediateSteps: stepsIn(messages, thread) }),
	};
}

/** What a chat, or an agent, is told in place of an answer where a person is to decide first. */
function waitingFor(tasks: unknown[] = []): string {
	const names = serverWords(tasks.map((task) => get(task, 'name') as unknown).join(', '));
	return `This waits for a person to decide${names ? `: ${names}` : ''}.`;
}

/** The documents that an answer cites, each once by its name, as a list in Markdown; nothing where it cites none. */
export function listOf(sources: Source[], style: Telling['citations']): string {
	const cited = sources.filter((one) => one.cited);
	const documents = uniq(cited.map(({ documentId }) => documentId));
	const lines = documents.map((id) => {
		const passages = cited.filter(({ documentId }) => documentId === id);
		const numbers = style === 'numbers' ? passages.map(({ number }) => `[${number}]`) : [];
		const name = passages.find(({ documentName }) => documentName)?.documentName ?? id;
		return `- ${[...numbers, name].join(' ')}`;
	});
	return lines.length === 0 ? '' : `\n\nSources:\n${lines.join('\n')}`;
}
