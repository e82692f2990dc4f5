import { findLast } from 'lodash';
import type { Request } from './assistant';
import type { Context } from './context';
import type { Conversation, Interrupt, Message, Thread } from './entities';
import { badRequest } from './errors';
import type { Action } from './faultRules';
import type { OpenedFile } from './runFiles';
import type { RunInput } from './runInput';
import { run, type Order } from './runs';
import type { Assistant } from './store';
import type { Loose } from './values';

/** What a run is asked, with the files that were given to it. */
export type Asked = RunInput & { attachments: string; opened: OpenedFile[] };

/** What a run is to do, but for where it runs. */
type Task = Pick<Order, 'request' | 'base' | 'question'>;

/**
 * Runs a conversation's thread and gives the content that E4 answers with. A run that failed, was cancelled
 * or asks a person looks like a success: it answers with nothing. Only the older form of the input repeats
 * the last answer then (`E04` "model fails (BOOM)").
 */
export async function runConversation(
	context: Context,
	assistant: Assistant,
	conversation: Conversation,
	input: Asked,
	misbehaviour: Action[],
): Promise<string> {
	const thread = threadOf(context, assistant, conversation);
	const last = input.legacy ? lastAnswer(thread) : '';
	const task = taskOf(input, thread);
	if (task === undefined) return last;
	const outcome = await run(context, { assistant, conversation, thread, misbehaviour, ...task });
	if (outcome.kind !== 'answer') return last;
	// What a tool said comes first, and is no part of the last message (`interrupts` "confirm").
	return [outcome.tool ?? [], outcome.text].flat().join('\n');
}

function lastAnswer({ messages }: Thread): string {
	const content = findLast(messages, ({ from }) => from === 'assistant')?.content;
	return typeof content === 'string' ? content : '';
}

/** What is to be done, or undefined when nothing is. */
function taskOf(input: Asked, thread: Thread): Task | undefined {
	if (input.action === 'resume') return decisionOn(thread, input.decision);
	if (input.action === 'retry') return again(thread);
	// After a failed run only an explicit `send` or `retry` gets the thread going again: the recordings show
	// the older form answered with the last answer from then on (`E04` "extra fields" after "BOOM").
	const explicit = input.action === 'send' && !input.legacy;
	if (thread.status === 'error' && !explicit) return undefined;
	return ask(thread.messages, input.text, input.attachments, input.opened);
}

function ask(base: Message[], text: string, attachments: string, files: OpenedFile[]): Task {
	const seen = base.filter(({ from }) => from === 'person').length + 1;
	const parts = [attachments, text].map((part) => ({ type: 'text', text: part }));
	return {
		base,
		request: { text, attachments, files, seen },
		question: attachments === '' ? text : parts,
	};
}

/** What was said last is asked anew, from where it was asked; its messages get new ids (`runs` "retry"). */
function again(thread: Thread): Task | undefined {
	const { messages, before, status, input, attachments = '', opened = [] } = thread;
	if (typeof input !== 'string') return undefined;
	const base = status === 'idle' ? (before ?? messages) : messages;
	return ask(base, input, attachments, opened);
}

function decisionOn({ interrupt, messages }: Thread, decision: Loose): Task | undefined {
	if (!interrupt) return undefined;
	return { request: decided(interrupt, decision), base: messages };
}

function decided(interrupt: Interrupt, decision: Loose): Request {
	if (decision.type !== 'confirm' && decision.type !== 'reject') {
		throw badRequest("decision.type: Invalid enum value. Expected 'confirm' | 'reject'");
	}
	return { interrupt, decision };
}

/** The conversation's thread, which begins with its first run. */
function threadOf({ store }: Context, assistant: Assistant, conversation: Conversation): Thread {
	const { threadId, createdAt } = conversation;
	conversation.xpertId ??= assistant.id;
	const existing = store.threads.get(threadId);
	return existing ?? store.putThread({ threadId, assistantId: assistant.id, createdAt });
}
