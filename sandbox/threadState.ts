import { randomUUID } from 'node:crypto';
import type { Context } from './context';
import type { Conversation, Interrupt, Message, Thread, ToolCall } from './entities';
import { internal } from './errors';
import type { Assistant } from './store';
import type { Loose } from './values';

/**
 * A thread as E15 shows it: the graph's state as `values`, and all else of the conversation that the database gives
 * first, be it one that has never run (`one-thread-status-null` "E15 null").
 */
export function shownThread({ store }: Context, thread: Thread): Loose {
	const conversation = store.conversationOf(thread.threadId);
	const assistant = store.assistants.get(thread.assistantId);
	if (conversation === undefined) throw internal();
	return { ...listedThread(conversation), values: stateOf(thread, assistant) };
}

/** A thread as its list shows it, and who makes one: without its state, which there may not be. */
export const listedThread = (conversation: Conversation): Loose => ({
	thread_id: conversation.threadId,
	status: conversation.status,
	updated_at: conversation.updatedAt,
	created_at: conversation.createdAt,
	created_by: null,
	updated_by: null,
	metadata: {
		id: conversation.id,
		title: conversation.title,
		assistant_id: conversation.xpertId,
	},
});

/** The state of the graph, with more in it than anyone asked for: the agent's channel has the messages again. */
function stateOf(thread: Thread, assistant: Assistant | undefined): Loose {
	const messages = thread.messages.map(shownMessage);
	const key = assistant?.agentKey ?? 'Agent';
	return {
		__xpertJumpTo: null,
		messages,
		input: thread.input ?? null,
		sys: systemState(thread),
		human: thread.human ?? { input: thread.input ?? null },
		...thread.state,
		pending_follow_ups: thread.followUps ?? [],
		toolCall: null,
		title: null,
		title_channel: { system: '', messages: [] },
		summary: null,
		memories: null,
		[`${key.toLowerCase()}_channel`]: {
			agent: agentOf(assistant),
			system: thread.messages.some(({ from }) => from === 'assistant')
				? systemOf(thread, assistant)
				: '',
			messages,
			error: null,
			output: messages.at(-1)?.content ?? null,
		},
		...(assistant?.looksFirst && {
			[`${assistant.looksFirst.agentKey.toLowerCase()}_channel`]: { result: thread.found },
		}),
		__pregel_tasks: [[], []],
		...(thread.isNext && { [`branch:to:${key}`]: null }),
	};
}

/** What an assistant is told before all else. */
export function systemOf({ askedAt = '', found }: Thread, assistant: Assistant | undefined) {
	const { agentKey = 'Agent', agentName = '', prompt = '' } = assistant ?? {};
	const who = `Your ID is '${agentKey}'. Your name is '${agentName}'.`;
	return `Current date: ${askedAt.slice(0, 10)}\n${who}\n${prompt.replace('{found}', () => found ?? '')}`;
}

function systemState({ threadId, askedAt, createdAt }: Thread): Loose {
	const moment = askedAt ?? createdAt ?? '';
	return { language: 'en', date: moment.slice(0, 10), datetime: moment, thread_id: threadId };
}

const agentOf = (assistant: Assistant | undefined): Loose => ({
	id: assistant?.agentId ?? null,
	key: assistant?.agentKey ?? null,
	name: assistant?.agentName ?? null,
	title: assistant?.title ?? null,
	description: assistant?.description ?? null,
	avatar: null,
});

/** A message without type and role, as the server serializes it: once more within itself as `lc_kwargs`. */
function shownMessage({
	id,
	from,
	content,
	reasoning,
	calls,
	answers,
	status,
	usage,
}: Message): Loose {
	const shared = {
		content,
		additional_kwargs: {
			...(reasoning !== undefined && { reasoning_content: reasoning }),
			...(calls?.length && { tool_calls: calls.map(rawCall) }),
		},
		response_metadata: from === 'assistant' ? { usage: usage ?? {} } : {},
		id,
	};
	const own = {
		...(from === 'tool' && { name: answers?.name, tool_call_id: answers?.id }),
		...(status && { status, metadata: {} }),
		...(from === 'assistant' && {
			tool_calls: calls ?? [],
			invalid_tool_calls: [],
			tool_call_chunks: (calls ?? []).map(callChunk),
		}),
	};
	return {
		lc_serializable: true,
		lc_kwargs: { ...shared, ...own },
		lc_namespace: ['langchain_core', 'messages'],
		...shared,
		...own,
		...(from === 'tool' && { lc_direct_tool_output: true }),
	};
}

const rawCall = ({ id, name, args }: ToolCall, index: number): Loose => ({
	index,
	id,
	type: 'function',
	function: { name, arguments: JSON.stringify(args) },
});

const callChunk = ({ id, name, args }: ToolCall, index: number): Loose => ({
	name,
	args: JSON.stringify(args),
	id,
	index,
	type: 'tool_call_chunk',
});

/** What a run waits for that another one has overtaken: its own agent (`one-thread-first-messages-race`). */
export const overtaken = ({ agentKey: name }: Assistant): Loose => ({
	tasks: [{ id: randomUUID(), name, path: ['__pregel_pull', name], interrupts: [] }],
});

/** What a helper can be told. */
const PARAMETERS = [{ name: 'input', title: 'Input', description: 'Input content', type: 'text' }];

/**
 * What is to be decided, in the form a conversation's `operation` has (`interrupts` "conversation that waits"). Of calls
 * whose arguments a person has changed only the names are told (`decisions` "conversation, after the first confirm").
 */
export const operation = ({ tasks, changed }: Interrupt, assistant: Assistant): Loose => ({
	tasks: tasks.map(({ id, call, title, description, isTool }, place) => ({
		id,
		name: call.name,
		path: ['__pregel_push', place],
		interrupts: [],
		...(!changed && {
			call,
			...(isTool
				? { type: 'tool', info: { name: title, description } }
				: { type: 'agent', info: { name: title, title, description }, parameters: PARAMETERS }),
			agent: agentOf(assistant),
		}),
	})),
});
