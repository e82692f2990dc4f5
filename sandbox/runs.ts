import { randomUUID } from 'node:crypto';
import { findLast } from 'lodash';
import { answer, ModelFailure } from './assistant';
import { timestamp } from './clock';
import type { Context } from './context';
import type { Conversation, Message, Thread } from './entities';
import type { RunInput } from './runInput';
import type { Assistant } from './store';

const message = (type: Message['type'], content: string): Message => ({
	id: randomUUID(),
	type,
	role: type,
	content,
});

const lastOf = (thread: Thread, type: Message['type']) =>
	findLast(thread.messages, (one) => one.type === type)?.content;

/** What is said to the assistant, or undefined when the run adds nothing and the last answer stands. */
function textOf(input: RunInput, thread: Thread): string | undefined {
	if (input.action === 'resume') return undefined;
	if (input.action === 'retry') return lastOf(thread, 'human');
	// After a failed run only an explicit `send` or `retry` gets the thread going again: the recordings show
	// the older form answered with the last answer from then on (`E04` "extra fields" after "BOOM").
	const explicit = input.action === 'send' && !input.legacy;
	return thread.status === 'error' && !explicit ? undefined : input.text;
}

/**
 * Runs a thread to its end and gives the content of its last answer. A run is not tied to the request that
 * asked for it: it goes on when the connection drops. Two runs at once on one thread each start from the
 * messages they find, so one loses the other's, as on the real server.
 */
export async function run(
	context: Context,
	assistant: Assistant,
	conversation: Conversation,
	input: RunInput,
): Promise<string> {
	const thread = threadOf(context, assistant, conversation);
	const text = textOf(input, thread);
	if (text === undefined) return lastOf(thread, 'ai') ?? '';
	const retrying = input.action === 'retry';
	const before = retrying ? thread.messages : [...thread.messages, message('human', text)];
	thread.messages = before;
	settle(context, conversation, thread, 'busy');
	if (context.runMs > 0) await context.clock.sleep(context.runMs);
	try {
		const said = answer(assistant, context.store, text);
		thread.messages = [...before, message('ai', said)];
		settle(context, conversation, thread, 'idle');
		return said;
	} catch (error) {
		if (!(error instanceof ModelFailure)) throw error;
		settle(context, conversation, thread, 'error', error.message);
		// A failed run looks like a success: the answer before it, or nothing.
		return lastOf(thread, 'ai') ?? '';
	}
}

function threadOf({ store }: Context, assistant: Assistant, conversation: Conversation): Thread {
	const { threadId } = conversation;
	const existing = store.threads.get(threadId);
	if (existing) return existing;
	const thread: Thread = { threadId, assistantId: assistant.id, status: 'idle', messages: [] };
	store.threads.set(threadId, thread);
	conversation.xpertId ??= assistant.id;
	return thread;
}

function settle(
	{ clock }: Context,
	conversation: Conversation,
	thread: Thread,
	status: Thread['status'],
	error: string | null = null,
): void {
	thread.status = status;
	Object.assign(conversation, { status, error, updatedAt: timestamp(clock) });
}
