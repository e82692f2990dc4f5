import { randomUUID } from 'node:crypto';
import { outcomeOf, type Outcome, type Request } from './assistant';
import { timestamp } from './clock';
import type { Context } from './context';
import type { Message, RunRecord, Thread } from './entities';
import { actionsOf, type Action } from './faultRules';
import type { Assistant } from './store';

/** A run that is to begin. */
export interface Order {
	assistant: Assistant;
	thread: Thread;
	request: Request;
	/** The messages it adds to the thread; none when it is tried again or goes on after a decision. */
	adds: Message[];
	/** What is to go wrong with the request that asked for it. */
	misbehaviour: Action[];
	/** Wait so long before beginning, in milliseconds. */
	afterMs?: number;
	/** Told whenever the thread's status has changed. */
	settled?(outcome?: Outcome): void;
}

/** What goes on at a thread. */
interface Life {
	/** The messages of the run that ended last; a run starts from them. */
	base: Message[];
	running: number;
	/** Resolves when the run that began last has ended. */
	last: Promise<unknown>;
}

const lives = new WeakMap<Thread, Life>();

/** A message as the thread keeps it. */
export const message = (type: Message['type'], content: string): Message => ({
	id: randomUUID(),
	type,
	role: type,
	content,
});

/** Resolves when no run is under way on the thread. */
export async function untilFree(thread: Thread): Promise<void> {
	for (let life = lives.get(thread); life && life.running > 0; ) await life.last;
}

/**
 * Runs a thread to its end. A run is not tied to the request that asked for it: it goes on when the
 * connection drops. Two runs at once on one thread each start from the messages of the last one that ended,
 * and each writes all messages when it ends: those of the last to end survive, as on the real server. What
 * is overwritten goes to the thread's `lost`.
 */
export function run(context: Context, order: Order): Promise<Outcome> {
	const { thread } = order;
	const life = lives.get(thread) ?? { base: [], running: 0, last: Promise.resolve() };
	lives.set(thread, life);
	if (life.running === 0) life.base = thread.messages;
	life.running += 1;
	const outcome = goOn(context, order, life);
	life.last = outcome;
	return outcome;
}

async function goOn(context: Context, order: Order, life: Life): Promise<Outcome> {
	const { thread, assistant, request, adds } = order;
	const text = 'text' in request ? request.text : undefined;
	const before = [...life.base, ...adds];
	const record = recordOf(context, order, text);
	thread.messages = before;
	thread.interrupt = null;
	thread.error = null;
	settle(context, order, 'busy');
	const [fault] = actionsOf(order.misbehaviour, 'run');
	const ms = (fault?.ms ?? assistant.runMs ?? context.runMs) + (order.afterMs ?? 0);
	if (ms > 0) await context.clock.sleep(ms);
	const outcome = outcomeOf(context, assistant, request, fault);
	const after = outcome.kind === 'answer' ? [...before, message('ai', outcome.text)] : before;
	const lost = life.base.filter((one) => !after.includes(one));
	if (lost.length > 0) thread.lost = [...(thread.lost ?? []), ...lost];
	life.base = after;
	life.running -= 1;
	thread.messages = after;
	thread.interrupt = outcome.kind === 'interrupt' ? outcome.interrupt : null;
	thread.error = outcome.kind === 'fail' ? outcome.error : null;
	Object.assign(record, { endedAt: context.clock.now(), status: STATUS[outcome.kind] });
	settle(context, order, life.running > 0 ? 'busy' : STATUS[outcome.kind], outcome);
	return outcome;
}

const STATUS: Record<Outcome['kind'], Thread['status']> = {
	answer: 'idle',
	fail: 'error',
	interrupt: 'interrupted',
};

function recordOf(
	{ store, clock }: Context,
	{ thread, assistant }: Order,
	text?: string,
): RunRecord {
	const record: RunRecord = {
		id: randomUUID(),
		threadId: thread.threadId,
		assistantId: assistant.id,
		text,
		startedAt: clock.now(),
		status: 'busy',
	};
	store.runs.push(record);
	return record;
}

function settle(
	{ clock }: Context,
	{ thread, settled }: Order,
	status: Thread['status'],
	outcome?: Outcome,
): void {
	thread.status = status;
	thread.updatedAt = timestamp(clock);
	settled?.(outcome);
}
