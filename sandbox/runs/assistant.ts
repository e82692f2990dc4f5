import { compact } from 'lodash';
import type { Context } from '../context';
import type { OpenedFile, Said } from '../entities';
import type { ActionOf } from '../faults';
import { cutOf, split } from '../processing/splitter';
import { PassageIndex, quotation, sentenceIn, type FindableDocument, type Found } from '../search';
import type { Assistant } from '../seed';
import type { Store } from '../store';
import { MODELS, slowness, SUB_AGENT, toolsOf, type Reply, type Turn } from './models';
import { passagesIn, type FoundPassage } from './retriever';

/** A text no assistant survives: it makes a run fail as recorded in `E04` "model fails (BOOM)". */
const FAILING_INPUT = 'BOOM';

/** A text that begins so makes any assistant ask a person first. */
export const INTERRUPTING_INPUT = 'ASK A PERSON';

/** Said when no document fits the question. */
export const NOTHING_FOUND =
	'I found nothing about that in the documents of this sandbox, which takes each question by itself. The conversation is kept.';

export type Question = Said & Omit<Turn, 'tools' | 'text' | 'attachments'>;

/** How long an assistant takes by what it is told: the recorded one takes 6 s for `SLOW6000`. */
export const slownessOf = ({ answers }: Assistant, text: string): number | undefined =>
	answers === 'said' || answers === 'answers' ? slowness(text) : undefined;

/** What an assistant says when its turn comes, and which tools it calls; a fault `run` may say it. */
export function replyOf(
	{ store }: Context,
	assistant: Assistant,
	question: Question,
	fault?: ActionOf<'run'>,
): Reply {
	if (question.unreadable) return { text: '', error: question.unreadable };
	const outcome = fault?.outcome ?? usualOutcome(assistant, question);
	if (outcome === 'empty') return { text: '' };
	if (outcome === 'interrupt') {
		return { text: '', calls: [{ name: SUB_AGENT, args: { input: question.text } }] };
	}
	if (outcome === 'fail') {
		return { text: '', error: fault?.error ?? reasonOf(assistant, question.text) };
	}
	if (fault?.text !== undefined) return { text: fault.text };
	const model = MODELS[assistant.answers];
	if (model) {
		const tools = toolsOf(assistant).map(({ name }) => name);
		return model({ ...question, tools }, assistant.error ?? undefined);
	}
	const looks = looksOf(assistant, question);
	if (looks.length > 0) return { text: '', calls: looks };
	const { toolsSaid = [] } = question;
	const looked = toolsSaid.map(passagesIn);
	if (looked.includes(undefined)) return { text: `Tool said: ${toolsSaid.join('\n')}` };
	const passages = compact(looked).flat();
	const isFiltered = toolsSaid.some((said) => FILTERED.test(said));
	return { text: answerTo(assistant, store, question, passages, isFiltered) };
}

const FILTERED = /"filterStatus": "applied"/;

function looksOf(
	assistant: Assistant,
	{ text, files, rounds }: Question,
): NonNullable<Reply['calls']> {
	if (assistant.answers !== 'documents' || rounds > 0 || files.length > 0) return [];
	const looks = toolsOf(assistant).filter(({ knowledgebaseId }) => knowledgebaseId !== undefined);
	return looks.map(({ name }) => ({ name, args: { input: text, query: text } }));
}

function usualOutcome(
	{ answers }: Assistant,
	{ text, toolsSaid }: Question,
): 'answer' | 'fail' | 'interrupt' {
	if (toolsSaid) return 'answer';
	if (answers === 'fail' || text === FAILING_INPUT) return 'fail';
	return answers === 'interrupt' || text.startsWith(INTERRUPTING_INPUT) ? 'interrupt' : 'answer';
}

function reasonOf({ name, answers, error }: Assistant, input: string): string {
	if (error !== null) return error;
	if (answers === 'fail') return `No model for "${name}"`;
	return input === FAILING_INPUT ? 'The model failed: BOOM' : 'The model failed';
}

function answerTo(
	assistant: Assistant,
	store: Store,
	{ text, files, heard }: Question,
	passages: FoundPassage[],
	isFiltered: boolean,
): string {
	if (assistant.answers !== 'documents') {
		return text.startsWith('RECALL') ? `Heard: ${heard.join(' || ')}` : `Echo: ${text}`;
	}
	if (files.length > 0) return answerFromFiles(files, text);
	const found = isFiltered
		? bestOf(text, passages)
		: store.index.find(text, (id) => store.findable(id), openTo(assistant, store));
	return found ? fromDocuments(found, passages) : NOTHING_FOUND;
}

const hasKnowledgebase = ({ tools }: Assistant, knowledgebaseId: string): boolean =>
	tools?.some((tool) => tool.knowledgebaseId === knowledgebaseId) ?? false;

/** An assistant finds what is in its own knowledgebases, and in those that no assistant has, such as a visitor's own. */
function openTo(assistant: Assistant, { assistants, documents }: Store) {
	return (documentId: string): boolean => {
		const { knowledgebaseId = '' } = documents.get(documentId) ?? {};
		if (hasKnowledgebase(assistant, knowledgebaseId)) return true;
		return ![...assistants.values()].some((other) => hasKnowledgebase(other, knowledgebaseId));
	};
}

function bestOf(asked: string, passages: FoundPassage[]): Found | undefined {
	const index = new PassageIndex();
	passages.forEach((_, place) => index.touch(String(place)));
	return index.find(asked, (id) => {
		const { documentName: name = '', content = '' } = passages[Number(id)] ?? {};
		return { id, name, chunks: [content] };
	});
}

/** Quotes the sentence that fits best and names the document it stands in, with its link where a look has found it. */
function fromDocuments(found: Found, passages: FoundPassage[]): string {
	const { name, text } = found;
	const seen = passages.find(
		({ documentName, content }) => documentName === name && content === text,
	);
	return [quotation(found), ...(seen ? [seen.citationMarkdown] : [])].join(' ');
}

type ReadFile = Extract<OpenedFile, { text: string }>;

/**
 * What an assistant says that answers from the files beside a question: the sentence that fits it best, or the one
 * a file begins with when none does; of files that it cannot read, why.
 */
function answerFromFiles(files: OpenedFile[], asked: string): string {
	const found = foundIn(
		files.filter((file): file is ReadFile => 'text' in file && file.text.trim() !== ''),
		asked,
	);
	return found ? quotation(found) : files.map(unread).join('\n');
}

function foundIn(files: ReadFile[], asked: string): Found | undefined {
	const documents = new Map<string, FindableDocument>();
	const index = new PassageIndex();
	for (const [place, { name, text }] of files.entries()) {
		const id = String(place);
		documents.set(id, { id, name, chunks: split(text, cutOf(undefined)) });
		index.touch(id);
	}
	const [first] = files;
	return (
		index.find(asked, (id) => documents.get(id)) ??
		(first && { ...first, sentence: sentenceIn(first.name, first.text, asked) })
	);
}

const unread = (file: OpenedFile): string =>
	'text' in file ? `"${file.name}" is empty.` : `I cannot read "${file.name}": ${file.reason}`;
