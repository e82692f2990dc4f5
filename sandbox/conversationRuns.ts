import { randomUUID } from 'node:crypto';
import { findLast } from 'lodash';
import { timestamp } from './clock';
import type { Context } from './context';
import type { Conversation, Message, Thread } from './entities';
import { badRequest } from './errors';
import type { Action } from './faultRules';
import type { OpenedFile } from './runFiles';
import type { RunInput } from './runInput';
import { begin, type Order, type Run } from './runs';
import type { Assistant } from './store';
import { asObject, isObject, type Loose } from './values';

/** What a run is asked, with the files that were given to it. */
export type Asked = RunInput & { attachments: string; opened: OpenedFile[] };

/** What a run is to do, but for where it runs. */
type Task = Pick<Order, 'question' | 'decision' | 'base'>;

/**
 * Runs a conversation's thread and gives the content that E4 answers with: all that was said until the run ended,
 * failed, was cancelled or had to wait for a person, so nothing where it was not said anything. Only the older form of
 * the input repeats the last answer then (`E04` "model fails (BOOM)").
 */
export async function runConversation(
	context: Context,
	assistant: Assistant,
	conversation: Conversation,
	input: Asked,
	misbehaviour: Action[],
): Promise<string> {
	const last = input.legacy ? lastAnswer(context.store.threads.get(conversation.threadId)) : '';
	const run = start(context, assistant, conversation, input, misbehaviour);
	await run?.ended;
	return run?.text() || last;
}

/**
 * Begins what a conversation is asked for; nothing begins where nothing is to be done.
 *
 * @throws ApiError 400 for a decision or another try where nothing has run yet
 */
function start(
	context: Context,
	assistant: Assistant,
	conversation: Conversation,
	input: Asked,
	misbehaviour: Action[],
): Run | undefined {
	conversation.xpertId ??= assistant.id;
	if (input.action === 'resume' || input.action === 'retry')
		leaveOver(context, conversation, input);
	const thread = threadOf(context, assistant, conversation);
	const task = taskOf(input, thread);
	return task && begin(context, { assistant, conversation, thread, misbehaviour, ...task });
}

/**
 * What is refused, and a decision that does not name its run, leave a run behind that never ends; another try that is
 * refused leaves the conversation busy besides (`background` "a refused decision leaves traces").
 */
function leaveOver(
	{ store, clock }: Context,
	conversation: Conversation,
	{ action, target }: Asked,
): void {
	const { threadId } = conversation;
	const isRefused = !store.threads.has(threadId);
	if (isRefused || (action === 'resume' && target.executionId === undefined)) {
		const [id, startedAt] = [randomUUID(), clock.now()];
		store.runs.push({ id, threadId, assistantId: null, startedAt, status: 'running' });
	}
	if (!isRefused) return;
	conversation.updatedAt = timestamp(clock);
	if (action === 'resume') throw badRequest('Missing resume target AI message');
	conversation.status = 'busy';
	throw badRequest('Missing retry source AI message');
}

function lastAnswer(thread: Thread | undefined): string {
	const content = findLast(thread?.messages, ({ from }) => from === 'assistant')?.content;
	return typeof content === 'string' ? content : '';
}

/** What is to be done, or undefined when nothing is. */
function taskOf(input: Asked, thread: Thread): Task | undefined {
	if (input.action === 'resume') return decisionOn(thread, input);
	if (input.action === 'retry') return again(thread);
	// After a failed run only an explicit `send` or `retry` gets the thread going again: the recordings show
	// the older form answered with the last answer from then on (`E04` "extra fields" after "BOOM").
	const explicit = input.action === 'send' && !input.legacy;
	if (thread.status === 'error' && !explicit) return undefined;
	return ask(thread.messages, input.text, input.attachments, input.opened);
}

function ask(base: Message[], text: string, attachments: string, files: OpenedFile[]): Task {
	const parts = [attachments, text].map((part) => ({ type: 'text', text: part }));
	const content = attachments === '' ? text : parts;
	return { base, question: { text, attachments, files, content } };
}

/** What was said last is asked anew, from where it was asked; its messages get new ids (`runs` "retry"). */
function again({ messages, before, status, input, attachments, opened }: Thread): Task | undefined {
	if (typeof input !== 'string') return undefined;
	const base = status === 'idle' ? (before ?? messages) : messages;
	return ask(base, input, attachments ?? '', opened ?? []);
}

/**
 * What a person has decided. Whatever they have decided is carried out when a payload came with it, be it null
 * (`decisions` "reject with an empty payload").
 */
function decisionOn({ interrupt, messages }: Thread, { decision, patch }: Asked): Task | undefined {
	if (!interrupt) return undefined;
	const { type, payload } = decision;
	if (type !== 'confirm' && type !== 'reject') {
		throw badRequest("decision.type: Invalid enum value. Expected 'confirm' | 'reject'");
	}
	const carriesOut = type === 'confirm' || 'payload' in decision;
	const changes = carriesOut ? changesIn(patch) : undefined;
	return { base: messages, decision: { interrupt, carriesOut, payload, changes } };
}

/** The arguments a person has changed, by the id of the call; what names no call changes nothing. */
function changesIn({ toolCalls }: Loose): Map<string, Loose> | undefined {
	if (!Array.isArray(toolCalls)) return undefined;
	const changes = toolCalls.filter(isObject).map(({ id, args }) => [id, asObject(args)] as const);
	return new Map(changes.filter((one): one is [string, Loose] => typeof one[0] === 'string'));
}

/** The conversation's thread, which begins with its first run. */
function threadOf({ store }: Context, assistant: Assistant, conversation: Conversation): Thread {
	const { threadId, createdAt } = conversation;
	const existing = store.threads.get(threadId);
	return existing ?? store.putThread({ threadId, assistantId: assistant.id, createdAt });
}
