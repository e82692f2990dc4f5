import { findLast } from 'lodash';
import type { Outcome, Request } from './assistant';
import { timestamp } from './clock';
import type { Context } from './context';
import type { Conversation, Interrupt, Message, Thread } from './entities';
import { badRequest } from './errors';
import type { Action } from './faultRules';
import type { RunInput } from './runInput';
import { message, run } from './runs';
import type { Assistant } from './store';
import type { Loose } from './values';

const lastOf = (thread: Thread, type: Message['type']) =>
	findLast(thread.messages, (one) => one.type === type)?.content;

/** What the assistant is asked, or undefined when the run adds nothing and the last answer stands. */
function requestOf(input: RunInput, thread: Thread): Request | undefined {
	if (input.action === 'resume') return decisionOn(thread.interrupt, input.decision);
	if (input.action === 'retry') {
		const text = lastOf(thread, 'human');
		return text === undefined ? undefined : { text };
	}
	// After a failed run only an explicit `send` or `retry` gets the thread going again: the recordings show
	// the older form answered with the last answer from then on (`E04` "extra fields" after "BOOM").
	const explicit = input.action === 'send' && !input.legacy;
	return thread.status === 'error' && !explicit ? undefined : { text: input.text };
}

function decisionOn(interrupt: Interrupt | null | undefined, decision: Loose): Request | undefined {
	if (!interrupt) return undefined;
	if (decision.type !== 'confirm' && decision.type !== 'reject') {
		throw badRequest("decision.type: Invalid enum value. Expected 'confirm' | 'reject'");
	}
	return { interrupt, decision };
}

/** Runs a conversation's thread and gives the content of its last answer. */
export async function runConversation(
	context: Context,
	assistant: Assistant,
	conversation: Conversation,
	input: RunInput,
	misbehaviour: Action[],
): Promise<string> {
	const thread = threadOf(context, assistant, conversation);
	const request = requestOf(input, thread);
	if (request === undefined) return lastOf(thread, 'ai') ?? '';
	const outcome = await run(context, {
		assistant,
		thread,
		request,
		adds: 'text' in request && input.action !== 'retry' ? [message('human', request.text)] : [],
		misbehaviour,
		settled: (end) => noteIn(conversation, thread, timestamp(context.clock), end),
	});
	// A run that failed or asks a person looks like a success: the answer before it, or nothing.
	return outcome.kind === 'answer' ? outcome.text : (lastOf(thread, 'ai') ?? '');
}

function threadOf({ store }: Context, assistant: Assistant, conversation: Conversation): Thread {
	const { threadId } = conversation;
	const existing = store.threads.get(threadId);
	if (existing) return existing;
	conversation.xpertId ??= assistant.id;
	return store.putThread({ threadId, assistantId: assistant.id });
}

/** The conversation tells of the thread's status, of the reason of a failure and of what is to be decided. */
function noteIn(conversation: Conversation, thread: Thread, now: string, outcome?: Outcome): void {
	Object.assign(conversation, {
		status: thread.status,
		error: outcome?.kind === 'fail' ? outcome.error : null,
		operation: thread.interrupt ? operation(thread.interrupt) : null,
		updatedAt: now,
	});
}

/** What is to be decided, in the form a conversation's `operation` has on the Xpert server. */
const operation = ({ id, taskId, question, input }: Interrupt): Loose => ({
	tasks: [
		{
			name: 'answer',
			type: 'tool',
			info: { name: 'answer', title: 'Answer', description: question },
			parameters: [
				{ name: 'input', title: 'Input', type: 'string', description: 'What was asked' },
			],
			call: { id: taskId, name: 'answer', args: { input } },
			interrupts: [{ id, value: { question, input } }],
		},
	],
});

/** The interrupts of a thread by the task that waits, as E15 shows them. */
export const interruptsOf = ({ interrupt }: Thread): Record<string, Loose[]> =>
	interrupt ? { [interrupt.taskId]: [shownInterrupt(interrupt)] } : {};

/** An interrupt as the API shows it. */
export const shownInterrupt = ({ id, question, input }: Interrupt): Loose => ({
	id,
	value: { question, input },
});
