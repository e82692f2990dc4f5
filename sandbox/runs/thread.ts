import { randomUUID } from 'node:crypto';
import type { Context } from '../context';
import type { Interrupt, Message, Thread, ToolCall } from '../entities';
import { internal } from '../errors';
import type { Assistant } from '../seed';
import type { Loose } from '../values';
import { toolOf } from './models';

/**
 * A thread as E15 shows it: the graph's state as `values`, and all else of the conversation that the database gives
 * first, be it one that has never run (`one-thread-status-null` "E15 null").
 */
export function shownThread({ store }: Context, thread: Thread): Loose {
	const conversation = store.conversationOf(thread.threadId);
	const assistant = store.assistants.get(thread.assistantId);
	if (conversation === undefined) throw internal();
	const { looksFirst } = assistant ?? {};
	return {
		thread_id: conversation.threadId,
		status: conversation.status,
		updated_at: conversation.updatedAt,
		created_at: conversation.createdAt,
		metadata: {
			id: conversation.id,
			title: conversation.title,
			assistant_id: conversation.xpertId,
		},
		values: {
			messages: thread.messages.map(shownMessage),
			input: thread.input ?? null,
			human: thread.human ?? { input: thread.input ?? null },
			...thread.state,
			...(looksFirst && {
				[`${looksFirst.agentKey.toLowerCase()}_channel`]: { result: thread.found },
			}),
		},
	};
}

const shownMessage = ({ id, from, content, calls = [], answers, usage = {} }: Message): Loose => ({
	id,
	content,
	...(from === 'tool' && { name: answers?.name, tool_call_id: answers?.id }),
	...(from === 'assistant' && { tool_calls: calls, response_metadata: { usage } }),
});

/**
 * What a run waits for that another one has overtaken: a step of its own, and nobody (`one-thread-first-messages-race`,
 * `one-key-cancel-ends-both`).
 */
export const overtaken = (name: string): Loose => ({
	tasks: [{ id: randomUUID(), name, path: ['__pregel_pull', name], interrupts: [] }],
});

/** What the call of a helper takes. */
const PARAMETERS = [{ name: 'input', title: 'Input' }];

/**
 * What is to be decided, in the form a conversation's `operation` has (`interrupts` "conversation that waits"). Of calls
 * whose arguments a person has changed only the names are told (`decisions` "conversation, after the first confirm").
 */
export const operation = ({ tasks, changed }: Interrupt, { title: asker }: Assistant): Loose => ({
	tasks: tasks.map(({ id, call, title, description, isTool }, place) => ({
		id,
		name: call.name,
		path: ['__pregel_push', place],
		interrupts: [],
		...(!changed && {
			call,
			type: isTool ? 'tool' : 'agent',
			info: { name: title, title, description },
			// Examples show people these.
			agent: { title: asker },
			...(!isTool && { parameters: PARAMETERS }),
		}),
	})),
});

export interface Decision {
	interrupt: Interrupt;
	carriesOut: boolean;
	payload?: unknown;
	/** Other arguments for some of the calls, by the call's id. */
	changes?: Map<string, Loose>;
}

/** What waits from now on: all calls of the message, one of which a person has to decide. */
export function interruptOf(
	assistant: Assistant,
	calls: ToolCall[],
	waiting: Pick<Interrupt, 'run' | 'said' | 'rounds'>,
	asks: string | undefined,
): Interrupt {
	const tasks = calls.map((call) => {
		const { name, title = name, description = title, toolset } = toolOf(assistant, call);
		const isTool = toolset !== undefined;
		return { id: randomUUID(), call, title, description: asks ?? description, isTool };
	});
	return { ...waiting, tasks, changed: false };
}

/** The same calls with other arguments; they wait once more, under new ids. */
export function changed(interrupt: Interrupt, changes: Map<string, Loose>): Interrupt {
	const tasks = interrupt.tasks.map((task) => {
		const args = { ...task.call.args, ...changes.get(task.call.id) };
		return { ...task, id: randomUUID(), call: { ...task.call, args } };
	});
	return { ...interrupt, tasks, changed: true };
}
