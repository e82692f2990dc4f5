import { randomBytes, randomUUID } from 'node:crypto';
import { difference, findLastIndex } from 'lodash';
import { replyOf, slownessOf, type Said } from './assistant';
import { timestamp } from './clock';
import type { Context } from './context';
import type { Conversation, Interrupt, Message, RunRecord, Thread, ToolCall } from './entities';
import { actionsOf, type Action } from './faultRules';
import type { Reply } from './recordedModel';
import type { Assistant, Store } from './store';
import { operation } from './threadState';
import { toolOf, toolSays } from './tools';
import type { Loose } from './values';

/** What a person has decided on what a thread waits for. */
export interface Decision {
	interrupt: Interrupt;
	/** Whether the calls are carried out. */
	carriesOut: boolean;
	payload?: unknown;
	/** Other arguments for some of the calls, by the call's id. */
	changes?: Map<string, Loose>;
}

/** A run that is to begin, or to go on after a decision. */
export interface Order {
	assistant: Assistant;
	conversation: Conversation;
	thread: Thread;
	/** The messages it starts from. */
	base: Message[];
	/** What is asked, and as the thread keeps it; nothing when the run goes on after a decision. */
	question?: Said & { content: Message['content'] };
	decision?: Decision;
	/** What is to go wrong with the request that asked for it. */
	misbehaviour: Action[];
}

/** A run under way: its record, and what it has said since it was asked for. */
export interface Run {
	record: RunRecord;
	ended: Promise<void>;
	/** What E4 answers with: all that was said, each speaker in a line of their own. */
	text(): string;
}

/** How a run ends, and what it waits for or why it failed. */
interface Ending {
	status: Thread['status'];
	error?: string;
	interrupt?: Interrupt;
}

/** All that goes on in one run. */
interface Work {
	context: Context;
	order: Order;
	record: RunRecord;
	/** What the thread had when it began, and what the run knows of it since. */
	known: Message[];
	messages: Message[];
	asked: Said;
	/** Whether it is the first to hear that a person has rejected a call. */
	rejected: boolean;
	rounds: number;
	/** How long what comes next takes, in milliseconds. */
	ms: number;
	/** What was said, and by whom: the assistant, or one of its tools. */
	said: Array<{ by: string; text: string }>;
	cancelled: Promise<void>;
	isCancelled: boolean;
}

/** Thrown within a run that somebody cancels. */
class Cancelled extends Error {}

const CANCELED = 'Canceled by user';

/** The server keeps the last step before it says that the run has ended: so long at most, in milliseconds. */
const NOTED_AFTER = 300;

/** How to cancel each run under way, by its id. */
const cancels = new WeakMap<RunRecord, () => void>();

/** Cancels what runs on a thread, as somebody does in the server's own chat; gives how many runs it was. */
export function cancelRuns({ runs }: Pick<Store, 'runs'>, threadId: string): number {
	const running = runs.filter((run) => run.threadId === threadId && cancels.has(run));
	running.forEach((run) => cancels.get(run)?.());
	return running.length;
}

/**
 * Begins a run. It is not tied to the request that asked for it: it goes on when the connection drops. The thread
 * shows each of its steps when this has ended, so nothing of an answer until it is whole (`runs` "while it goes on"),
 * and of a decision first what the tools said, then the answer, while status and task stay as they were
 * (`decision-watched-confirm`). Two runs at once on one thread each start from the messages of the last one that
 * ended, and each writes all messages when it ends: those of the last to end survive. What is overwritten goes to the
 * thread's `lost`.
 */
export function begin(context: Context, order: Order): Run {
	const work = workOf(context, order);
	let cancel = () => {};
	work.cancelled = new Promise((resolve) => (cancel = resolve));
	cancels.set(work.record, () => {
		work.isCancelled = true;
		cancel();
	});
	if (order.question) ask(work);
	return { record: work.record, ended: wholeRun(work), text: () => textOf(work) };
}

async function wholeRun(work: Work): Promise<void> {
	const { context, order, record } = work;
	record.status = 'running';
	const lag = order.decision ? work.ms / 4 : Math.min(NOTED_AFTER, work.ms / 10);
	work.ms -= lag;
	const ending = await carryOut(work).catch((error: unknown): Ending => {
		if (error instanceof Cancelled) return { status: 'interrupted', error: CANCELED };
		throw error;
	});
	cancels.delete(record);
	record.status = ending.status === 'idle' ? 'success' : (ending.status as RunRecord['status']);
	if (!work.isCancelled) await context.clock.sleep(lag);
	record.endedAt = context.clock.now();
	note(context, order, ending);
}

function workOf(context: Context, order: Order): Work {
	const { thread, assistant, decision, question } = order;
	const [fault] = actionsOf(order.misbehaviour, 'run');
	const asked = question ?? decision?.interrupt.said ?? { text: '', attachments: '', files: [] };
	const slow = question && slownessOf(assistant, question.text);
	return {
		context,
		order,
		record: decision?.interrupt.run ?? newRecord(context, order),
		known: thread.messages,
		messages: question ? [...order.base, personSays(question.content)] : order.base,
		asked,
		rejected: question !== undefined && thread.hasRejected === true,
		rounds: decision?.interrupt.rounds ?? 0,
		ms: fault?.ms ?? slow ?? assistant.runMs ?? context.runMs,
		said: [],
		cancelled: Promise.resolve(),
		isCancelled: false,
	};
}

function newRecord({ store, clock }: Context, { thread, assistant, question }: Order): RunRecord {
	const record: RunRecord = {
		id: randomUUID(),
		threadId: thread.threadId,
		assistantId: assistant.id,
		text: question?.text,
		startedAt: clock.now(),
		status: 'running',
	};
	store.runs.push(record);
	return record;
}

/** From now on the thread is busy with what was said. */
function ask({ context, order, asked }: Work): void {
	const { thread } = order;
	Object.assign(thread, {
		input: asked.text,
		attachments: asked.attachments,
		opened: asked.files,
		askedAt: timestamp(context.clock),
		before: order.base,
		hasRejected: false,
		isNext: true,
	});
	note(context, order, { status: 'busy' });
}

/** The conversation and the thread tell how it stands, why it failed and what is to be decided. */
function note({ clock }: Context, order: Order, { status, error, interrupt }: Ending): void {
	const { thread, conversation, assistant } = order;
	const updatedAt = timestamp(clock);
	Object.assign(thread, { status, error: error ?? null, interrupt: interrupt ?? null, updatedAt });
	Object.assign(conversation, {
		status,
		error: error ?? null,
		operation: interrupt ? operation(interrupt, assistant) : null,
		updatedAt,
	});
}

async function carryOut(work: Work): Promise<Ending> {
	const { decision, thread } = work.order;
	if (!decision) return await converse(work);
	const { interrupt, carriesOut, changes, payload } = decision;
	const calls = interrupt.tasks.map(({ call }) => call);
	if (carriesOut && !changes) {
		// What is carried out takes most of the time, the words about it the rest.
		const words = work.ms / 3;
		work.ms -= words;
		await useTools(work, calls, payload);
		work.ms = words;
		return await converse(work);
	}
	await pass(work);
	if (changes) return { status: 'interrupted', interrupt: changed(interrupt, changes) };
	thread.hasRejected = true;
	return { status: 'idle' };
}

/** The assistant says something and calls tools, until it calls none, or one that waits for a person. */
async function converse(work: Work): Promise<Ending> {
	const { assistant } = work.order;
	for (;;) {
		const reply = nextReply(work);
		await speak(work, reply);
		if (reply.error !== undefined) return { status: 'error', error: reply.error };
		const calls = (reply.calls ?? []).map(toCall);
		step(work, [assistantSays(reply.text, calls)]);
		if (calls.length === 0) return { status: 'idle' };
		work.rounds += 1;
		if (calls.some((call) => toolOf(assistant, call).waits)) {
			return { status: 'interrupted', interrupt: waitFor(work, calls) };
		}
		await useTools(work, calls);
	}
}

function nextReply({ context, order, messages, asked, rounds, rejected }: Work): Reply {
	const heard = messages.filter(({ from }) => from === 'person');
	const since = messages.slice(findLastIndex(messages, ({ from }) => from === 'person') + 1);
	const tools = since.at(-1)?.from === 'tool' ? since.filter(({ from }) => from === 'tool') : [];
	const [fault] = actionsOf(order.misbehaviour, 'run');
	const question = {
		...asked,
		heard: heard.map(textIn),
		rounds,
		toolsSaid: tools.length > 0 ? tools.map(textIn) : undefined,
		rejected,
	};
	return replyOf(context, order.assistant, question, fault);
}

/** The words come one after another where they drip, and all at once otherwise. */
async function speak(work: Work, { text, drip = 0 }: Reply): Promise<void> {
	await pass(work);
	for (const word of drip > 0 ? text.split(/(?<= )/) : [text]) {
		await pass(work, drip);
		work.said.push({ by: '', text: word });
	}
}

/** Carries out calls, one after another. */
async function useTools(work: Work, calls: ToolCall[], payload?: unknown): Promise<void> {
	const { assistant } = work.order;
	await pass(work);
	const messages: Message[] = [];
	for (const call of calls) {
		await pass(work, slownessOf(assistant, String(call.args.input)) ?? 0);
		const content = toolSays(assistant, call, payload);
		work.said.push({ by: call.name, text: content });
		messages.push({ id: randomUUID(), from: 'tool', content, answers: call });
	}
	step(work, messages);
}

/** Lets time pass: so long, or what there is of the run's own. */
async function pass(work: Work, ms = work.ms): Promise<void> {
	if (ms === work.ms) work.ms = 0;
	if (ms > 0) await Promise.race([work.context.clock.sleep(ms), work.cancelled]);
	if (work.isCancelled) throw new Cancelled();
}

/** A step has ended: all messages of the thread are written, and what other runs have written meanwhile is lost. */
function step(work: Work, added: Message[]): void {
	const { thread } = work.order;
	const lost = difference(thread.messages, work.known, work.messages);
	if (lost.length > 0) thread.lost = [...(thread.lost ?? []), ...lost];
	work.messages = [...work.messages, ...added];
	Object.assign(thread, { messages: work.messages, isNext: added.at(-1)?.from === 'tool' });
}

/** What waits from now on: all calls of the message, one of which a person has to decide. */
function waitFor({ order, record, asked, rounds }: Work, calls: ToolCall[]): Interrupt {
	const [fault] = actionsOf(order.misbehaviour, 'run');
	const tasks = calls.map((call) => {
		const { name, title = name, description = title } = toolOf(order.assistant, call);
		return { id: randomUUID(), call, title, description: fault?.text ?? description };
	});
	return { run: record, tasks, changed: false, rounds, said: asked };
}

/** The same calls with other arguments; they wait once more, under new ids. */
function changed(interrupt: Interrupt, changes: Map<string, Loose>): Interrupt {
	const tasks = interrupt.tasks.map((task) => {
		const args = { ...task.call.args, ...changes.get(task.call.id) };
		return { ...task, id: randomUUID(), call: { ...task.call, args } };
	});
	return { ...interrupt, tasks, changed: true };
}

const toCall = ({ name, args }: Omit<ToolCall, 'id' | 'type'>): ToolCall => ({
	name,
	args,
	id: `call_${randomBytes(6).toString('hex')}`,
	type: 'tool_call',
});

const personSays = (content: Message['content']): Message => ({
	id: randomUUID(),
	from: 'person',
	content,
});

const assistantSays = (content: string, calls: ToolCall[]): Message => ({
	id: `chatcmpl-${randomUUID()}`,
	from: 'assistant',
	content,
	calls,
});

/** The text of a message, also of one in parts. */
const textIn = ({ content }: Message): string =>
	typeof content === 'string' ? content : content.map(({ text }) => String(text ?? '')).join('');

function textOf({ said }: Work): string {
	return said
		.filter(({ text }) => text !== '')
		.map(
			({ by, text }, place, all) => (place === 0 || all[place - 1]?.by === by ? '' : '\n') + text,
		)
		.join('');
}
