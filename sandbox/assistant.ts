import { randomUUID } from 'node:crypto';
import type { Context } from './context';
import type { Interrupt } from './entities';
import type { ActionOf } from './faultRules';
import type { Assistant, Store } from './store';
import { asObject } from './values';

/** A text no assistant survives: it makes a run fail as recorded in `E04` "model fails (BOOM)". */
const FAILING_INPUT = 'BOOM';

/** A text that begins so makes any assistant ask a person first. */
export const INTERRUPTING_INPUT = 'ASK A PERSON';

/** Said when no document fits the question. */
export const NOTHING_FOUND = 'I found nothing about that in the documents of this sandbox.';

/** What a run comes to. */
export type Outcome =
	| { kind: 'answer'; text: string }
	| { kind: 'fail'; error: string }
	| { kind: 'interrupt'; interrupt: Interrupt };

/** What an assistant is to answer: a text, or a person's decision on what it asked. */
export type Request = { text: string } | { interrupt: Interrupt; decision: unknown };

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
	if (outcome === 'interrupt') return { kind: 'interrupt', interrupt: question(input, fault) };
	if (outcome === 'fail') {
		return { kind: 'fail', error: fault?.error ?? assistant.error ?? reasonOf(assistant, input) };
	}
	if (fault?.text !== undefined) return { kind: 'answer', text: fault.text };
	if (!('text' in request)) return { kind: 'answer', text: decided(input, request.decision) };
	return { kind: 'answer', text: said(assistant, store, input) };
}

function usualOutcome({ answers }: Assistant, request: Request): 'answer' | 'fail' | 'interrupt' {
	if (!('text' in request)) return 'answer';
	if (answers === 'fail' || request.text === FAILING_INPUT) return 'fail';
	const asks = answers === 'interrupt' || request.text.startsWith(INTERRUPTING_INPUT);
	return asks ? 'interrupt' : 'answer';
}

const reasonOf = ({ name, answers }: Assistant, input: string) =>
	answers !== 'fail' && input === FAILING_INPUT
		? 'The model failed: BOOM'
		: `No model for "${name}"`;

const question = (input: string, fault?: ActionOf<'run'>): Interrupt => ({
	id: randomUUID(),
	taskId: randomUUID(),
	question: fault?.text ?? 'May I answer this?',
	input,
});

/** The answer once a person has decided: `{type:'reject'}`, `'reject'` and `false` are a no. */
function decided(input: string, decision: unknown): string {
	const { type, payload } = asObject(decision);
	const no = decision === false || decision === 'reject' || type === 'reject';
	const more = payload === undefined ? '' : ` ${JSON.stringify(payload)}`;
	return `${no ? 'Rejected' : 'Confirmed'}: ${input}${more}`;
}

const said = (assistant: Assistant, store: Store, text: string): string =>
	assistant.answers === 'documents' ? fromDocuments(store, text) : `Echo: ${text}`;

/** Quotes the passage that fits best and names the document it stands in. */
function fromDocuments(store: Store, asked: string): string {
	const [best] = store.index.find(asked, (id) => store.documents.get(id), 1);
	if (best === undefined) return NOTHING_FOUND;
	return `According to "${best.documentName}": "${best.passage}"`;
}
