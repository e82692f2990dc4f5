import { randomBytes, randomUUID } from 'node:crypto';
import type { Context } from './context';
import type { Interrupt } from './entities';
import type { ActionOf } from './faultRules';
import type { Assistant, Store } from './store';
import { answerFromFiles } from './fileAnswers';
import type { OpenedFile } from './runFiles';
import { quotation } from './search';
import { asObject } from './values';

/** A text no assistant survives: it makes a run fail as recorded in `E04` "model fails (BOOM)". */
const FAILING_INPUT = 'BOOM';

/** A text that begins so makes any assistant ask a person first. */
export const INTERRUPTING_INPUT = 'ASK A PERSON';

/** Said when no document fits the question. */
export const NOTHING_FOUND = 'I found nothing about that in the documents of this sandbox.';

/** Why a run of the recorded assistant fails when it is told FAIL (`runs` "the model fails"). */
const RECORDED_FAILURE = '500 fake model failure: quota exceeded';

/** The sub agent that an assistant calls when a person agrees, by the name of its tool. */
const SUB_AGENT = 'subagent';

/** What a run comes to. */
export type Outcome =
	| { kind: 'answer'; text: string; tool?: string }
	| { kind: 'fail'; error: string }
	| { kind: 'interrupt'; interrupt: Interrupt }
	| { kind: 'cancel' };

/**
 * What a person says: the text, what the model is told of the files beside it, what it reads in them when it opens
 * them, and the messages of persons with it.
 */
export interface Said {
	text: string;
	attachments: string;
	files: OpenedFile[];
	seen: number;
}

/** What an assistant is to answer: what was said, or a person's decision on what it asked. */
export type Request = Said | { interrupt: Interrupt; decision: unknown };

/** How long a run takes by what is said: the recorded assistant takes 6 s for `SLOW6000`. */
export function slowness({ answers }: Assistant, request: Request): number | undefined {
	const slow = answers === 'said' && 'text' in request && /SLOW(\d+)/.exec(request.text)?.[1];
	return slow ? Number(slow) : undefined;
}

/** What comes of asking an assistant; a fault `run` may say it. */
export function outcomeOf(
	{ store }: Context,
	assistant: Assistant,
	request: Request,
	fault?: ActionOf<'run'>,
): Outcome {
	const input = 'text' in request ? request.text : request.interrupt.input;
	const outcome = fault?.outcome ?? usualOutcome(assistant, request);
	if (outcome === 'empty') return { kind: 'answer', text: '' };
	if (outcome === 'interrupt')
		return { kind: 'interrupt', interrupt: question(assistant, input, fault) };
	if (outcome === 'fail') {
		return { kind: 'fail', error: fault?.error ?? assistant.error ?? reasonOf(assistant, input) };
	}
	if (fault?.text !== undefined) return { kind: 'answer', text: fault.text };
	if ('text' in request) return { kind: 'answer', text: answerTo(assistant, store, request) };
	const tool = assistant.subAgentSays ?? decided(input, request.decision);
	return { kind: 'answer', tool, text: `Tool said: ${tool}` };
}

function usualOutcome({ answers }: Assistant, request: Request): 'answer' | 'fail' | 'interrupt' {
	if (!('text' in request)) return 'answer';
	const { text } = request;
	if (answers === 'fail' || text === FAILING_INPUT) return 'fail';
	if (answers === 'said' && text.includes('FAIL')) return 'fail';
	return answers === 'interrupt' || text.startsWith(INTERRUPTING_INPUT) ? 'interrupt' : 'answer';
}

function reasonOf({ name, answers }: Assistant, input: string): string {
	if (answers === 'fail') return `No model for "${name}"`;
	return input === FAILING_INPUT ? 'The model failed: BOOM' : RECORDED_FAILURE;
}

const question = ({ asks }: Assistant, input: string, fault?: ActionOf<'run'>): Interrupt => ({
	taskId: randomUUID(),
	question: fault?.text ?? asks,
	input,
	call: {
		name: SUB_AGENT,
		args: { input },
		id: `call_${randomBytes(6).toString('hex')}`,
		type: 'tool_call',
	},
});

/** What the sub agent says once a person has decided. */
function decided(input: string, decision: unknown): string {
	const { type, payload } = asObject(decision);
	const more = payload === undefined ? '' : ` ${JSON.stringify(payload)}`;
	return `${type === 'reject' ? 'Rejected' : 'Confirmed'}: ${input}${more}`;
}

function answerTo({ answers }: Assistant, store: Store, said: Said): string {
	const { text, attachments, files, seen } = said;
	if (answers === 'documents') {
		return files.length > 0 ? answerFromFiles(files, text) : fromDocuments(store, text);
	}
	if (answers === 'said') return `You said: ${attachments}${text} [users seen: ${seen}]`;
	return `Echo: ${text}`;
}

/** Quotes the sentence that fits best and names the document it stands in. */
function fromDocuments(store: Store, asked: string): string {
	const found = store.index.find(asked, (id) => store.findable(id));
	return found ? quotation(found) : NOTHING_FOUND;
}
