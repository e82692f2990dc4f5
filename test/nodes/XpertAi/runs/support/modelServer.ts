import type { Failure } from '../../../../../nodes/XpertAi/transport/failure';
import type { ApiRequest, Outcome, Send } from '../../../../../nodes/XpertAi/transport/request';
import type { Fault } from './faults';
import type { VirtualTime } from '../../../support/virtualTime';

export const THREAD = 't1';
export const CONVERSATION = 'c1';
export const QUESTION = 'our question';
export const ANSWER = 'our answer';
export const OLD_ANSWER = 'an older answer';
export const REASON = 'No model for "broken"';
export const CANCELLED = 'Canceled by user';
/** What a run asks a person, as a conversation's `operation.tasks` hold it. */
export const TASKS = [{ id: 'task1', name: 'tool', call: { name: 'tool', args: { may: 'I?' } } }];
const OLD_TASKS = [{ id: 'task0', name: 'tool', call: { name: 'tool', args: { an: 'older' } } }];

/**
 * What our run comes to. `unsaid` answers with nothing and leaves the answer on the thread; `nothing`
 * answers with nothing and leaves no message at all.
 */
type Outcomes = 'answer' | 'unsaid' | 'empty' | 'nothing' | 'fail' | 'interrupt' | 'cancel';

/** How a server and what befalls the requests are, in a test. */
export interface World {
	/** What our run comes to, and how long it takes. */
	outcome?: Outcomes;
	runMs?: number;
	/** What a run has left on the thread before; it has never run without it. `interrupted` waits for a person. */
	earlier?: 'idle' | 'error' | 'interrupted' | 'cancelled';
	/** What we ask for: it decides what the server shows while it goes on. */
	kind?: 'message' | 'decision' | 'retry';
	/** Another run is on the thread until then. */
	otherUntilMs?: number;
	/** A run of somebody else that begins as soon as ours has ended. */
	nextMs?: number;
	/** What goes wrong with the requests of each kind, one after another; nothing after that. */
	runs?: Array<Fault | undefined>;
	reads?: Array<Fault | undefined>;
	searches?: Array<Fault | undefined>;
}

/** One request as it arrived at the model, or would have. */
export interface Seen extends ApiRequest {
	at: number;
	endpoint: 'E4' | 'E5' | 'E15';
	fault?: Fault;
}

/** A message as E15 shows it: with neither `type` nor `role`. */
interface ModelMessage {
	id: string;
	content: string;
	tool_calls?: unknown[];
	tool_call_id?: string;
}

/**
 * A model of an Xpert server, as recorded: what it answers at a moment follows from when our message
 * reached it.
 */
export class ModelServer {
	readonly seen: Seen[] = [];
	/** When our message arrived, each time it did. */
	readonly arrivals: number[] = [];
	/** Requests sent although the execution was stopped. */
	sentAfterStop = 0;
	/** How often a run was begun while another was on the thread, which loses messages. */
	overlaps = 0;

	constructor(
		private readonly world: World,
		private readonly time: VirtualTime,
	) {}

	readonly send: Send = async (request) => {
		if (this.time.signal.aborted) this.sentAfterStop += 1;
		const endpoint = endpointOf(request);
		const faults = { E4: this.world.runs, E15: this.world.reads, E5: this.world.searches };
		const fault = faults[endpoint]?.[this.of(endpoint).length];
		const seen: Seen = { ...request, endpoint, fault, at: this.time.elapsed() };
		this.seen.push(seen);
		const outcome = this.respond(seen);
		await Promise.resolve();
		if (this.time.signal.aborted) return fail(request, { kind: 'cancelled' });
		return outcome;
	};

	/** The requests of an endpoint so far. */
	of(endpoint: Seen['endpoint']): Seen[] {
		return this.seen.filter((one) => one.endpoint === endpoint);
	}

	private respond(seen: Seen): Outcome {
		const { endpoint, fault, timeoutMs } = seen;
		const { runMs = 0 } = this.world;
		if (endpoint === 'E4' && (!fault || fault.arrives)) {
			if (this.otherIsOn()) this.overlaps += 1;
			this.arrivals.push(this.time.elapsed());
		}
		if (fault) {
			this.time.pass(Math.min(fault.afterMs ?? timeoutMs, timeoutMs));
			return fail(seen, fault.failure);
		}
		if (endpoint === 'E15') return this.thread(seen);
		if (endpoint === 'E5') return this.conversations();
		this.time.pass(Math.min(runMs, timeoutMs));
		if (runMs > timeoutMs) return fail(seen, { kind: 'timeout' });
		const content = this.world.outcome === undefined || this.world.outcome === 'answer';
		return { ok: true, status: 201, answer: { role: 'ai', content: content ? ANSWER : '' } };
	}

	private thread(request: Seen): Outcome {
		const status = this.shownStatus();
		if (status === undefined)
			return fail(request, { kind: 'status', status: 500, reason: 'Internal server error' });
		const answer = {
			thread_id: THREAD,
			status,
			updated_at: this.updatedAt(),
			metadata: { id: CONVERSATION },
			values: { messages: this.messages() },
		};
		return { ok: true, status: 200, answer };
	}

	private conversations(): Outcome {
		const status = this.shownStatus();
		const error =
			status === 'error' ? this.reason(REASON) : this.isCancelled() ? this.reason(CANCELLED) : null;
		const waits = status === 'interrupted' && !this.isCancelled();
		const tasks = this.ended() && !this.isHidden() ? TASKS : OLD_TASKS;
		const operation = waits ? { tasks } : null;
		const item = { id: CONVERSATION, threadId: THREAD, status: status ?? null, error, operation };
		return { ok: true, status: 200, answer: { items: [item], total: 1 } };
	}

	private reason(ours: string): string {
		return this.ended() ? ours : 'an older reason';
	}

	private isCancelled(): boolean {
		if (this.shownStatus() !== 'interrupted') return false;
		return this.ended() ? this.world.outcome === 'cancel' : this.world.earlier === 'cancelled';
	}

	private otherIsOn(): boolean {
		return this.time.elapsed() < (this.world.otherUntilMs ?? 0);
	}

	private endedAt(): number | undefined {
		const [arrival] = this.arrivals;
		return arrival === undefined ? undefined : arrival + (this.world.runMs ?? 0);
	}

	private ended(): boolean {
		const endedAt = this.endedAt();
		return endedAt !== undefined && this.time.elapsed() >= endedAt;
	}

	/** Whether nothing of our run is to be seen yet: so it is with a decision. */
	private isHidden(): boolean {
		return this.world.kind === 'decision' && !this.ended();
	}

	private updatedAt(): string {
		const changes = [0, this.otherIsOn() ? 1 : 2];
		if (this.arrivals.length > 0 && !this.isHidden()) changes.push(3);
		if (this.ended()) changes.push(4, this.shownStatus() === 'busy' ? 5 : 6);
		return `change ${changes.at(-1)}`;
	}

	private shownStatus(): string | undefined {
		const { outcome = 'answer', earlier, otherUntilMs, nextMs = 0 } = this.world;
		if (this.otherIsOn()) return 'busy';
		const endedAt = this.endedAt();
		const before = earlier === 'cancelled' ? 'interrupted' : earlier;
		if (endedAt === undefined || this.isHidden())
			return before ?? (otherUntilMs ? 'idle' : undefined);
		if (!this.ended() || this.time.elapsed() < endedAt + nextMs) return 'busy';
		if (outcome === 'fail') return 'error';
		return outcome === 'interrupt' || outcome === 'cancel' ? 'interrupted' : 'idle';
	}

	/** The messages of the thread; those of a run are there only when it has ended, and a failed one leaves none. */
	private messages(): ModelMessage[] {
		const { outcome = 'answer', earlier, otherUntilMs = 0, nextMs, kind } = this.world;
		const messages: ModelMessage[] = [];
		if (earlier) messages.push(person('an older question'), assistant(OLD_ANSWER));
		if (earlier === 'interrupted')
			messages.push(person('a waiting question'), assistant('', [{ id: 'call0' }]));
		if (otherUntilMs > 0 && !this.otherIsOn())
			messages.push(person('another question'), assistant('another answer'));
		if (!this.ended()) return messages;
		if (!['fail', 'cancel', 'nothing'].includes(outcome)) {
			if (kind === 'decision') messages.push(tool('done'));
			else messages.push(person(QUESTION));
			const said = { answer: ANSWER, unsaid: ANSWER, empty: '', interrupt: '' }[
				outcome as 'answer'
			];
			messages.push(assistant(said, outcome === 'interrupt' ? [{ id: 'call1' }] : []));
		}
		if (nextMs && this.shownStatus() !== 'busy')
			messages.push(person('the next question'), assistant('the next answer'));
		return messages;
	}
}

const person = (content: string): ModelMessage => ({ id: `person ${content}`, content });
const tool = (content: string): ModelMessage => ({
	id: `tool ${content}`,
	content,
	tool_call_id: 'call0',
});
const assistant = (content: string, calls: unknown[] = []): ModelMessage => ({
	id: `assistant ${content} ${calls.length}`,
	content,
	tool_calls: calls,
});

function endpointOf({ method, path }: ApiRequest): Seen['endpoint'] {
	if (method === 'GET' && path === `/threads/${THREAD}`) return 'E15';
	if (method === 'POST' && path === `/threads/${THREAD}/runs/wait`) return 'E4';
	if (method === 'POST' && path === '/conversations/search') return 'E5';
	throw new Error(`the model knows no ${method} ${path}`);
}

function fail(
	{ method, path }: Pick<ApiRequest, 'method' | 'path'>,
	facts: Omit<Failure, 'method' | 'path'>,
): Outcome {
	return { ok: false, failure: { ...facts, method, path: `/api/ai${path}` } };
}
