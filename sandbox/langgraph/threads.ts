import { randomUUID } from 'node:crypto';
import { findLast } from 'lodash';
import type { z } from 'zod';
import type { Outcome, Request } from '../assistant';
import { SlowAnswer, type Call, type Endpoint } from '../context';
import type { Message, Thread } from '../entities';
import { message, run, untilFree } from '../runs';
import type { Assistant } from '../store';
import type { Loose } from '../values';
import { interruptsOf, shownInterrupt } from '../xpertRuns';
import { checked, refused, unknownThread } from './errors';
import { runBody, runInput, threadPath, type chatMessage } from './schemas';

const BUSY =
	'Thread is already running a task. Wait for it to finish or choose a different multitask strategy.';

const TYPES: Record<string, Message['type']> = {
	user: 'human',
	human: 'human',
	assistant: 'ai',
	ai: 'ai',
	system: 'system',
};

/** A message of the input as the thread keeps it: of content in parts only the text. */
function received({ role, type, content }: z.output<typeof chatMessage>): Message {
	const said =
		typeof content === 'string' ? content : content.map(({ text }) => text ?? '').join('');
	return message(TYPES[role ?? type ?? 'human'] ?? 'human', said);
}

const shownMessage = ({ id, type, content }: Message): Loose => ({
	id,
	type,
	content,
	additional_kwargs: {},
	response_metadata: {},
	...(type === 'ai' && { tool_calls: [], invalid_tool_calls: [] }),
});

const stateOf = ({ messages }: Thread): Loose => ({ messages: messages.map(shownMessage) });

const shownThread = (thread: Thread): Loose => ({
	thread_id: thread.threadId,
	created_at: thread.createdAt,
	updated_at: thread.updatedAt,
	metadata: thread.metadata ?? {},
	status: thread.status,
	config: {},
	values: thread.messages.length === 0 ? null : stateOf(thread),
	interrupts: interruptsOf(thread),
	...(thread.error && { error: failure(thread.error) }),
});

const failure = (text: string): Loose => ({ error: 'Error', message: text });

const threadIdOf = ({ params }: Call): string =>
	checked(threadPath, { thread_id: params.id }).thread_id;

/** The assistant of an id, or the first of a graph. */
function assistantOf({ context }: Call, id: string): Assistant {
	const all = [...context.store.assistants.values()];
	const assistant = all.find((one) => one.id === id) ?? all.find((one) => one.slug === id);
	if (assistant === undefined) throw refused(404, `Assistant "${id}" not found`);
	return assistant;
}

/** The answer to a run: the state, why it failed, or what it waits for. */
function answerOf(thread: Thread, outcome: Outcome): Loose {
	if (outcome.kind === 'fail') return { __error__: failure(outcome.error) };
	if (outcome.kind === 'interrupt') return { __interrupt__: [shownInterrupt(outcome.interrupt)] };
	return stateOf(thread);
}

/** What the assistant is asked and the messages that come of it; undefined for a decision nobody waits for. */
function orderOf(
	thread: Thread,
	body: z.output<typeof runBody>,
): { request: Request; adds: Message[] } | undefined {
	if (body.command?.resume !== undefined) {
		const { interrupt } = thread;
		if (!interrupt) return undefined;
		return { request: { interrupt, decision: body.command.resume }, adds: [] };
	}
	const adds = checked(runInput, { input: body.input }).input.messages.map(received);
	const asked = findLast(adds, ({ type }) => type === 'human')?.content ?? '';
	return { request: { text: asked }, adds };
}

/** Everything is checked before the headers go out; what goes wrong later stands in the answer, with 200. */
function runAndWait(call: Call): SlowAnswer {
	const { context, misbehaviour } = call;
	const threadId = threadIdOf(call);
	const body = checked(runBody, call.body ?? {});
	const assistant = assistantOf(call, body.assistant_id);
	const known = context.store.threads.get(threadId);
	if (!known && body.if_not_exists !== 'create') throw unknownThread(threadId);
	if (known?.status === 'busy' && body.multitask_strategy !== 'enqueue') throw refused(422, BUSY);
	if (body.command === undefined) checked(runInput, { input: body.input });
	const metadata = { graph_id: assistant.slug, assistant_id: assistant.id, ...body.metadata };
	const thread =
		known ?? context.store.putThread({ threadId, assistantId: assistant.id, metadata });
	const begin = async () => {
		if (thread.status === 'busy') await untilFree(thread);
		const order = orderOf(thread, body);
		if (order === undefined) {
			return { __error__: { error: 'EmptyInputError', message: 'The thread waits for nothing' } };
		}
		const afterMs = (body.after_seconds ?? 0) * 1000;
		return answerOf(
			thread,
			await run(context, { assistant, thread, misbehaviour, afterMs, ...order }),
		);
	};
	return new SlowAnswer(begin());
}

function get(call: Call): Loose {
	const threadId = threadIdOf(call);
	const thread = call.context.store.threads.get(threadId);
	if (thread === undefined) throw unknownThread(threadId);
	return shownThread(thread);
}

/** A new thread with all messages of the old one. */
function copy(call: Call): Loose {
	const threadId = threadIdOf(call);
	const { store } = call.context;
	const thread = store.threads.get(threadId);
	if (thread === undefined) throw refused(409, `Thread with ID ${threadId} not found`);
	const { assistantId, status, messages, metadata, interrupt } = thread;
	const fields = { assistantId, status, messages, metadata, interrupt };
	return shownThread(store.putThread({ ...fields, threadId: randomUUID() }));
}

/** E4, E10 and E15. */
export const threadEndpoints: Endpoint[] = [
	{ id: 'E4', method: 'POST', path: '/threads/:id/runs/wait', status: 200, handle: runAndWait },
	{ id: 'E10', method: 'POST', path: '/threads/:id/copy', status: 200, handle: copy },
	{ id: 'E15', method: 'GET', path: '/threads/:id', status: 200, handle: get },
];
