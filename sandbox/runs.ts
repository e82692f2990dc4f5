import { randomUUID } from 'node:crypto';
import { outcomeOf, slowness, type Outcome, type Request } from './assistant';
import { timestamp } from './clock';
import type { Context } from './context';
import type { Conversation, Message, RunRecord, Thread, ToolCall } from './entities';
import { actionsOf, type Action } from './faultRules';
import type { Assistant } from './store';
import { operation } from './threadState';

/** A run that is to begin. */
export interface Order {
	assistant: Assistant;
	conversation: Conversation;
	thread: Thread;
	request: Request;
	/** The messages it starts from. */
	base: Message[];
	/** What a person said, as the thread keeps it; nothing when the run goes on after a decision. */
	question?: Message['content'];
	/** What is to go wrong with the request that asked for it. */
	misbehaviour: Action[];
}

/** What goes on at a thread. */
interface Life {
	running: number;
	/** Cancels each run under way. */
	cancels: Set<() => void>;
}

const CANCELED = 'Canceled by user';

const lives = new WeakMap<Thread, Life>();

/** Cancels what runs on a thread, as somebody does in the server's own chat; gives how many runs it was. */
export function cancelRuns(thread: Thread | undefined): number {
	const cancels = [...((thread && lives.get(thread)?.cancels) ?? [])];
	cancels.forEach((cancel) => cancel());
	return cancels.length;
}

/**
 * Runs a thread to its end. A run is not tied to the request that asked for it: it goes on when the
 * connection drops. Until it ends the thread shows none of its messages (`runs` "while it goes on"), and
 * while a decision is carried out nothing at all (`interrupts`). Two runs at once on one thread each start
 * from the messages of the last one that ended, and each writes all messages when it ends: those of the last
 * to end survive. What is overwritten goes to the thread's `lost`.
 */
export async function run(context: Context, order: Order): Promise<Outcome> {
	const { thread, request } = order;
	const known = thread.messages;
	const life = lives.get(thread) ?? { running: 0, cancels: new Set() };
	lives.set(thread, life);
	life.running += 1;
	const record = recordOf(context, order);
	if ('text' in request) begin(context, order);
	const [fault] = actionsOf(order.misbehaviour, 'run');
	const cancelled = await worked(context, life, timeOf(context, order, fault?.ms));
	const outcome: Outcome = cancelled
		? { kind: 'cancel' }
		: outcomeOf(context, order.assistant, request, fault);
	life.running -= 1;
	if (leavesMessages(outcome)) leave(order, outcome, known);
	end(context, order, outcome, life.running > 0 ? 'busy' : STATUS[outcome.kind]);
	Object.assign(record, { endedAt: context.clock.now(), status: STATUS[outcome.kind] });
	return outcome;
}

const STATUS: Record<Outcome['kind'], Thread['status']> = {
	answer: 'idle',
	fail: 'error',
	interrupt: 'interrupted',
	cancel: 'interrupted',
};

const timeOf = ({ runMs }: Context, { assistant, request }: Order, asked?: number): number =>
	asked ?? slowness(assistant, request) ?? assistant.runMs ?? runMs;

/** Lets the time of a run pass; true when it was cancelled before. */
async function worked({ clock }: Context, life: Life, ms: number): Promise<boolean> {
	if (ms <= 0) return false;
	let cancel = () => {};
	const cancelled = new Promise<true>((resolve) => (cancel = () => resolve(true)));
	life.cancels.add(cancel);
	const early = await Promise.race([clock.sleep(ms).then(() => false as const), cancelled]);
	life.cancels.delete(cancel);
	return early;
}

function recordOf({ store, clock }: Context, { thread, assistant, request }: Order): RunRecord {
	const record: RunRecord = {
		id: randomUUID(),
		threadId: thread.threadId,
		assistantId: assistant.id,
		text: 'text' in request ? request.text : undefined,
		startedAt: clock.now(),
		status: 'busy',
	};
	store.runs.push(record);
	return record;
}

/** A run that leaves messages: one that failed or was cancelled leaves none. */
type Ended = Extract<Outcome, { kind: 'answer' | 'interrupt' }>;

const leavesMessages = (outcome: Outcome): outcome is Ended =>
	outcome.kind === 'answer' || outcome.kind === 'interrupt';

/** Writes all messages of the thread; what other runs have written since this one began is overwritten. */
function leave(order: Order, outcome: Ended, known: Message[]): void {
	const { thread, base, request } = order;
	const lost = thread.messages.filter((one) => !known.includes(one) && !base.includes(one));
	if (lost.length > 0) thread.lost = [...(thread.lost ?? []), ...lost];
	if (outcome.kind === 'answer' && 'text' in request) thread.before = base;
	thread.messages = [...base, ...added(order, outcome)];
}

function begin({ clock }: Context, { thread, conversation, request }: Order): void {
	if ('text' in request) {
		thread.input = request.text;
		thread.attachments = request.attachments;
		thread.opened = request.files;
		thread.askedAt = timestamp(clock);
	}
	Object.assign(thread, { status: 'busy', error: null, interrupt: null });
	note(conversation, thread, timestamp(clock));
}

function end({ clock }: Context, order: Order, outcome: Outcome, status: Thread['status']): void {
	const { thread } = order;
	thread.status = status;
	thread.interrupt = outcome.kind === 'interrupt' ? outcome.interrupt : null;
	thread.error =
		outcome.kind === 'fail' ? outcome.error : outcome.kind === 'cancel' ? CANCELED : null;
	note(order.conversation, thread, timestamp(clock), order.assistant);
}

/** What a run adds to the messages. */
function added({ question, request }: Order, outcome: Ended): Message[] {
	const asked: Message[] =
		question === undefined ? [] : [{ id: randomUUID(), from: 'person', content: question }];
	if (outcome.kind === 'interrupt') return [...asked, assistantSays('', [outcome.interrupt.call])];
	const tool: Message[] =
		outcome.tool === undefined || 'text' in request
			? []
			: [
					{
						id: randomUUID(),
						from: 'tool',
						content: outcome.tool,
						answers: request.interrupt.call,
					},
				];
	return [...asked, ...tool, assistantSays(outcome.text)];
}

const assistantSays = (content: string, calls: ToolCall[] = []): Message => ({
	id: `chatcmpl-${randomUUID()}`,
	from: 'assistant',
	content,
	calls,
});

/** The conversation tells of the thread's status, of the reason of a failure and of what is to be decided. */
function note(
	conversation: Conversation,
	thread: Thread,
	updatedAt: string,
	assistant?: Assistant,
): void {
	const { status, error = null, interrupt } = thread;
	thread.updatedAt = updatedAt;
	Object.assign(conversation, {
		status,
		error,
		operation: interrupt && assistant ? operation(interrupt, assistant) : null,
		updatedAt,
	});
}
