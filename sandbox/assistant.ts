import type { Assistant, Store } from './store';

/** A text no assistant survives: it makes a run fail as recorded in `E04` "model fails (BOOM)". */
export const FAILING_INPUT = 'BOOM';

/** Said when no document fits the question. */
export const NOTHING_FOUND = 'I found nothing about that in the documents of this sandbox.';

/** The model behind an assistant could not answer. The message ends up as the conversation's `error`. */
export class ModelFailure extends Error {}

/** What the assistant says to a text. Throws `ModelFailure` when its model fails. */
export function answer(assistant: Assistant, store: Store, text: string): string {
	if (assistant.answers === 'fail') throw new ModelFailure(`No model for "${assistant.name}"`);
	if (text === FAILING_INPUT) throw new ModelFailure('The model failed: BOOM');
	return assistant.answers === 'echo' ? `Echo: ${text}` : fromDocuments(store, text);
}

/** Quotes the passage that fits best and names the document it stands in. */
function fromDocuments(store: Store, question: string): string {
	const [best] = store.index.find(question, (id) => store.documents.get(id), 1);
	if (best === undefined) return NOTHING_FOUND;
	return `According to "${best.documentName}": "${best.passage}"`;
}
