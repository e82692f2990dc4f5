import type { ApiRequest, Outcome, Send } from '../../../../../nodes/XpertAi/transport/request';
import { noStream } from '../../../../../nodes/XpertAi/transport/eventStream';
import { checked, fail, faulty } from './faults';
import type { Fault } from './faults';
import { RUN, streamOf } from './modelStream';
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

/** A run of somebody else on the same thread. */
export interface OtherRun {
	text: string;
	/** When it begins, and how long it takes. */
	fromMs: number;
	runMs: number;
	outcome?: 'answer' | 'fail' | 'interrupt';
}

/** How a server and what befalls the requests are, in a test. */
export interface World {
	/** What our run comes to, and how long it takes. */
	outcome?: Outcomes;
	runMs?: number;
	/** What a run has left on the thread before; it has never run without it. `interrupted` waits for a person. */
	earlier?: 'idle' | 'error' | 'interrupted' | 'cancelled';
	/** What we ask for: it decides what the server shows while it goes on. */
	kind?: 'message' | 'decision' | 'reject' | 'retry';
	/** How long a thread that has never run cannot be read once its first run has begun. */
	firstStepMs?: number;
	/** Another run is on the thread until then. */
	otherUntilMs?: number;
	/** Whether that run is one whose server has died: the next run ends it (recorded). */
	stranded?: boolean;
	/** A run of somebody else that begins as soon as ours has ended. */
	nextMs?: number;
	/** A run of somebody else at any moment. Of two at once, the messages of the one that ends first are lost. */
	bert?: OtherRun;
	/** Whether somebody hears what our run says while it goes on. */
	isHeard?: boolean;
	/** What goes wrong with the requests of each kind, one after another; nothing after that. */
	runs?: Array<Fault | undefined>;
	streams?: Array<Fault | undefined>;
	reads?: Array<Fault | undefined>;
	searches?: Array<Fault | undefined>;
}

/** One request as it arrived at the model, or would have. */
export interface Seen extends ApiRequest {
	at: number;
	endpoint: 'E4' | 'stream' | 'E5' | 'E15';
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
		const { runs, streams, reads, searches } = this.world;
		const faults = { E4: runs, stream: streams, E15: reads, E5: searches };
		const fault = faults[endpoint]?.[this.of(endpoint).length];
		const seen: Seen = { ...request, endpoint, fault, at: this.time.elapsed() };
		this.seen.push(seen);
		const outcome = this.respond(seen);
		await Promise.resolve();
		if (this.time.signal.aborted) return fail(request, { kind: 'cancelled' });
		return outcome;
	};

	/** The requests so far that would have begun our run. */
	begun(): Seen[] {
		return this.seen.filter(begins);
	}

	/** Whether our run is going on. */
	isUnderWay(): boolean {
		return this.begunAt() !== undefined && !this.ended();
	}

	/** The requests of an endpoint so far. */
	of(endpoint: Seen['endpoint']): Seen[] {
		return this.seen.filter((one) => one.endpoint === endpoint);
	}

	private respond(seen: Seen): Outcome {
		const { endpoint, fault, timeoutMs } = seen;
		const { runMs = 0 } = this.world;
		if (begins(seen) && (!fault || fault.arrives)) {
			if (this.otherIsOn()) this.overlaps += 1;
			this.arrivals.push(this.time.elapsed());
		}
		if (endpoint === 'stream' && (!fault || fault.heard !== undefined)) return this.heard(seen);
		if (fault) {
			this.time.pass(Math.min(fault.afterMs ?? timeoutMs, timeoutMs));
			return faulty({ checkAnswer: seen.stream && noStream, ...seen }, fault);
		}
		if (endpoint === 'E15') return checked(seen, this.thread(seen));
		if (endpoint === 'E5') return checked(seen, this.conversations());
		this.time.pass(Math.min(runMs, timeoutMs));
		if (runMs > timeoutMs) return fail(seen, { kind: 'timeout' });
		const said = this.world.kind !== 'reject' && (this.world.outcome ?? 'answer') === 'answer';
		return checked(seen, {
			ok: true,
			status: 201,
			answer: { role: 'ai', content: said ? ANSWER : '' },
		});
	}

	private heard(seen: Seen): Outcome {
		const { outcome = 'answer' } = this.world;
		// What fails or is cancelled may have begun to speak (recorded).
		const pieces = { answer: ANSWER, fail: 'our ', cancel: 'our ' }[outcome as 'answer'] ?? '';
		const [begunAt = 0, endedAt = 0] = [this.begunAt(), this.endedAt()];
		const run = { begunAt, endedAt, pieces: pieces.match(/\S+ ?/g) ?? [], status: STATUS[outcome] };
		return streamOf(seen, run, this.time);
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
			values: { input: this.input(), messages: this.messages() },
		};
		return { ok: true, status: 200, answer };
	}

	private conversations(): Outcome {
		const shown = this.shownStatus();
		const status = shown ?? (this.isFirstStep() ? 'busy' : undefined);
		const error = status === 'error' ? this.reason() : this.isCancelled() ? this.cancelled() : null;
		const waits = status === 'interrupted' && !this.isCancelled();
		const operation = waits ? { tasks: this.tasks() } : null;
		const item = { id: CONVERSATION, threadId: THREAD, status: status ?? null, error, operation };
		return { ok: true, status: 200, answer: { items: [item], total: 1 } };
	}

	private reason(): string {
		if (this.latest() === 'bert') return 'the reason of somebody else';
		return this.ended() ? REASON : 'an older reason';
	}

	private cancelled(): string {
		return this.ended() ? CANCELLED : 'an older reason';
	}

	private tasks() {
		if (this.latest() === 'bert') return [{ id: 'task of somebody else' }];
		return this.ended() && !this.isHidden() ? TASKS : OLD_TASKS;
	}

	private isCancelled(): boolean {
		if (this.shownStatus() !== 'interrupted' || this.latest() === 'bert') return false;
		return this.ended() ? this.world.outcome === 'cancel' : this.world.earlier === 'cancelled';
	}

	private otherIsOn(): boolean {
		if (this.world.stranded && this.ended()) return false;
		return this.time.elapsed() < (this.world.otherUntilMs ?? 0);
	}

	private begunAt(): number | undefined {
		return this.arrivals[0];
	}

	private endedAt(): number | undefined {
		const begun = this.begunAt();
		return begun === undefined ? undefined : begun + (this.world.runMs ?? 0);
	}

	private ended(): boolean {
		const endedAt = this.endedAt();
		return endedAt !== undefined && this.time.elapsed() >= endedAt;
	}

	private isDecision(): boolean {
		return this.world.kind === 'decision' || this.world.kind === 'reject';
	}

	/** Whether status and task are still those of before: so it is while a decision is carried out. */
	private isHidden(): boolean {
		return this.isDecision() && !this.ended();
	}

	/** Whether our run is the first of the thread and has stored nothing yet. */
	private isFirstStep(): boolean {
		const { earlier, firstStepMs = 0 } = this.world;
		const begun = this.begunAt();
		if (earlier || begun === undefined || this.ended()) return false;
		return this.time.elapsed() < begun + firstStepMs;
	}

	private bert(): 'none' | 'on' | 'ended' {
		const { bert } = this.world;
		const now = this.time.elapsed();
		if (!bert || now < bert.fromMs) return 'none';
		return now < bert.fromMs + bert.runMs ? 'on' : 'ended';
	}

	/** Whose run has begun last. */
	private latest(): 'ours' | 'bert' | 'none' {
		const begun = this.begunAt();
		const { fromMs = 0 } = this.world.bert ?? {};
		if (this.bert() !== 'none' && (begun === undefined || fromMs >= begun)) return 'bert';
		return begun === undefined ? 'none' : 'ours';
	}

	private updatedAt(): string {
		const changes = [0, this.otherIsOn() ? 1 : 2];
		if (this.arrivals.length > 0 && !this.isHidden()) changes.push(3);
		if (this.ended()) changes.push(4, this.shownStatus() === 'busy' ? 5 : 6);
		return `change ${changes.at(-1)}, theirs ${this.bert()}`;
	}

	private shownStatus(): string | undefined {
		const { outcome = 'answer', earlier, otherUntilMs, nextMs = 0, bert, kind } = this.world;
		if (this.otherIsOn() || this.bert() === 'on') return 'busy';
		if (this.isFirstStep()) return undefined;
		const endedAt = this.endedAt();
		if (endedAt !== undefined && !this.isHidden() && !this.ended()) return 'busy';
		if (this.latest() === 'bert') return STATUS[bert?.outcome ?? 'answer'];
		const before = earlier === 'cancelled' ? 'interrupted' : earlier;
		if (endedAt === undefined || this.isHidden())
			return before ?? (otherUntilMs ? 'idle' : undefined);
		if (this.time.elapsed() < endedAt + nextMs) return 'busy';
		if (kind === 'reject') return 'idle';
		return STATUS[outcome];
	}

	/** What the last run was asked, which stays where it has failed. */
	private input(): string {
		const { bert, earlier, otherUntilMs = 0, nextMs, kind } = this.world;
		if (this.latest() === 'bert') return bert?.text ?? '';
		const asks = kind === undefined || kind === 'message';
		if (nextMs && this.ended() && this.shownStatus() !== 'busy') return 'the next question';
		if (asks && this.begunAt() !== undefined) return QUESTION;
		if (otherUntilMs > 0) return 'another question';
		return earlier ? EARLIER_INPUT[earlier] : '';
	}

	/** The messages of the thread; those of a run are there only when it has ended, and a failed one leaves none. */
	private messages(): ModelMessage[] {
		const { earlier, otherUntilMs = 0, nextMs, bert, runMs = 0 } = this.world;
		let messages: ModelMessage[] = [];
		if (earlier) messages.push(person('an older question'), assistant(OLD_ANSWER));
		if (earlier === 'interrupted')
			messages.push(person('a waiting question'), assistant('', [{ id: 'call0' }]));
		if (otherUntilMs > 0 && !this.otherIsOn())
			messages.push(person('another question'), assistant('another answer'));
		const [ours, theirs] = [this.endedAt() ?? Infinity, (bert?.fromMs ?? 0) + (bert?.runMs ?? 0)];
		const meets = bert && ours < Infinity && bert.fromMs < ours && (this.begunAt() ?? 0) < theirs;
		const oursIsLost = meets && ours <= theirs && this.bert() === 'ended';
		const theirsIsLost = meets && theirs < ours;
		const bertSays = bert && this.bert() === 'ended' && !theirsIsLost ? saidBy(bert) : [];
		if (theirs <= ours) messages.push(...bertSays);
		if (!oursIsLost) messages = this.withOurs(messages, runMs);
		if (nextMs && this.ended() && this.shownStatus() !== 'busy')
			messages.push(person('the next question'), assistant('the next answer'));
		if (theirs > ours) messages.push(...bertSays);
		return messages;
	}

	private withOurs(before: ModelMessage[], runMs: number): ModelMessage[] {
		const { outcome = 'answer', earlier, kind } = this.world;
		const begun = this.begunAt();
		if (begun === undefined || kind === 'reject') return before;
		// While a decision is carried out, its messages come one by one.
		if (this.isHidden() && this.time.elapsed() >= begun + runMs / 2)
			return [...before, tool('done')];
		if (!this.ended() || ['fail', 'cancel', 'nothing'].includes(outcome)) return before;
		const said = { answer: ANSWER, unsaid: ANSWER, empty: '', interrupt: '' }[outcome as 'answer'];
		const answer = assistant(said, outcome === 'interrupt' ? [{ id: 'call1' }] : []);
		if (kind === 'decision') return [...before, tool('done'), answer];
		if (kind !== 'retry') return [...before, person(QUESTION), answer];
		// The last question and its answer are replaced; one that failed has left none.
		const again = { id: 'person again', content: EARLIER_INPUT[earlier ?? 'idle'] };
		return [...(earlier === 'idle' ? before.slice(0, -2) : before), again, answer];
	}
}

const STATUS = {
	...{ answer: 'idle', unsaid: 'idle', empty: 'idle', nothing: 'idle' },
	...{ fail: 'error', interrupt: 'interrupted', cancel: 'interrupted' },
};

const EARLIER_INPUT = {
	idle: 'an older question',
	error: 'a failed question',
	cancelled: 'a failed question',
	interrupted: 'a waiting question',
};

function saidBy({ text, outcome = 'answer' }: OtherRun): ModelMessage[] {
	const question = { id: 'person, theirs', content: text };
	const theirs = `their answer to ${text}`;
	return {
		answer: [question, assistant(theirs)],
		fail: [],
		interrupt: [question, assistant('', [{ id: 'call of theirs' }])],
	}[outcome];
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

/** Whether a request begins a run; who joins a stream only hears one. */
const begins = ({ endpoint, method }: Seen) =>
	endpoint === 'E4' || (endpoint === 'stream' && method === 'POST');

function endpointOf({ method, path }: ApiRequest): Seen['endpoint'] {
	if (method === 'GET' && path === `/threads/${THREAD}`) return 'E15';
	if (method === 'POST' && path === `/threads/${THREAD}/runs/wait`) return 'E4';
	if (method === 'POST' && path === `/threads/${THREAD}/runs/stream`) return 'stream';
	if (method === 'GET' && path === `/threads/${THREAD}/runs/${RUN}/stream`) return 'stream';
	if (method === 'POST' && path === '/conversations/search') return 'E5';
	throw new Error(`the model knows no ${method} ${path}`);
}
