import type { Failure } from '../../../../../nodes/XpertAi/transport/failure';
import type { ApiRequest, Outcome, Send } from '../../../../../nodes/XpertAi/transport/request';
import type { Fault } from './faults';
import type { VirtualTime } from '../../../support/virtualTime';

export const THREAD = 't1';
export const QUESTION = 'our question';
export const ANSWER = 'our answer';
export const OLD_ANSWER = 'an older answer';
export const REASON = 'No model for "broken"';
export const INTERRUPTS = { task1: [{ id: 'i1', value: { question: 'May I?' } }] };

/** `unsaid` answers with nothing and leaves the answer on the thread. */
type Outcomes = 'answer' | 'unsaid' | 'empty' | 'fail' | 'interrupt';

/** How a server and what befalls the requests are, in a test. */
export interface World {
	dialect?: 'xpert' | 'langgraph';
	/** What our run comes to, and how long it takes. */
	outcome?: Outcomes;
	runMs?: number;
	/** What a run has left on the thread before; it has never run without it. */
	earlier?: 'idle' | 'error' | 'interrupted';
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
	refusedBusy?: boolean;
}

interface ModelMessage {
	type: 'human' | 'ai';
	content: string;
}

/** A model of a server: what it answers at a moment follows from when our message reached it. */
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
			if (this.otherIsOn()) {
				if (this.world.dialect === 'langgraph') {
					seen.refusedBusy = true;
					return fail(seen, { kind: 'status', status: 422, reason: 'already running' });
				}
				this.overlaps += 1;
			}
			this.arrivals.push(this.time.elapsed());
		}
		if (fault) {
			this.time.pass(Math.min(fault.afterMs ?? timeoutMs, timeoutMs));
			return fail(seen, fault.failure);
		}
		if (endpoint === 'E15') return this.thread(seen);
		if (endpoint === 'E5') return this.conversations(seen);
		this.time.pass(Math.min(runMs, timeoutMs));
		if (runMs > timeoutMs) return fail(seen, { kind: 'timeout' });
		return { ok: true, status: 201, answer: this.runAnswer() };
	}

	private runAnswer(): unknown {
		const { dialect, outcome = 'answer' } = this.world;
		if (dialect === 'langgraph') {
			if (outcome === 'fail') return { __error__: { error: 'Error', message: REASON } };
			if (outcome === 'interrupt') return { __interrupt__: INTERRUPTS.task1 };
			return { messages: this.messages(false) };
		}
		if (outcome === 'answer') return { role: 'ai', content: ANSWER };
		if (outcome === 'empty' || outcome === 'unsaid') return { role: 'ai', content: '' };
		// A failed run looks like a success: with the answer before it, or with nothing.
		const before = this.messages().filter(({ type }) => type === 'ai');
		return { role: 'ai', content: before[before.length - 1]?.content ?? '' };
	}

	private thread(request: Seen): Outcome {
		const status = this.status();
		if (status === undefined) {
			const never = this.world.dialect === 'langgraph' ? 404 : 500;
			return fail(request, { kind: 'status', status: never, reason: 'Internal server error' });
		}
		const answer = {
			thread_id: THREAD,
			status,
			values: { messages: this.messages() },
			...(status === 'interrupted' ? { interrupts: this.interrupts() } : {}),
			...(this.world.dialect === 'langgraph' && status === 'error'
				? { error: { error: 'Error', message: this.failure() } }
				: {}),
		};
		return { ok: true, status: 200, answer };
	}

	private conversations(request: Seen): Outcome {
		if (this.world.dialect === 'langgraph') return fail(request, { kind: 'status', status: 404 });
		const error = this.status() === 'error' ? this.failure() : null;
		const items = [{ id: 'c1', threadId: THREAD, error }];
		return { ok: true, status: 200, answer: { items, total: 1 } };
	}

	private failure(): string {
		return this.ended() ? REASON : 'an older reason';
	}

	private interrupts(): unknown {
		return this.ended() ? INTERRUPTS : { task0: [{ id: 'i0', value: 'an older question' }] };
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

	private status(): string | undefined {
		const { outcome = 'answer', earlier, otherUntilMs, nextMs = 0 } = this.world;
		if (this.otherIsOn()) return 'busy';
		const endedAt = this.endedAt();
		if (endedAt === undefined) return earlier ?? (otherUntilMs ? 'idle' : undefined);
		if (!this.ended() || this.time.elapsed() < endedAt + nextMs) return 'busy';
		const statuses = { answer: 'idle', unsaid: 'idle', empty: 'idle', fail: 'error' };
		return outcome === 'interrupt' ? 'interrupted' : statuses[outcome];
	}

	/** The messages of the thread, with those of the run after ours or as ours has left them. */
	private messages(withNext = true): ModelMessage[] {
		const { outcome = 'answer', earlier, otherUntilMs = 0 } = this.world;
		const nextMs = withNext ? this.world.nextMs : 0;
		const messages: ModelMessage[] = [];
		if (earlier) messages.push(human('an older question'), ai(OLD_ANSWER));
		if (otherUntilMs > 0) messages.push(human('another question'));
		if (otherUntilMs > 0 && !this.otherIsOn()) messages.push(ai('another answer'));
		if (this.arrivals.length > 0) messages.push(human(QUESTION));
		if (this.ended() && ['answer', 'unsaid'].includes(outcome)) messages.push(ai(ANSWER));
		if (this.ended() && nextMs) messages.push(human('the next question'));
		if (this.ended() && nextMs && this.status() !== 'busy') messages.push(ai('the next answer'));
		return messages;
	}
}

const human = (content: string): ModelMessage => ({ type: 'human', content });
const ai = (content: string): ModelMessage => ({ type: 'ai', content });

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
