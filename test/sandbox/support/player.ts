import type { Readable } from 'node:stream';
import type { AxiosInstance, AxiosRequestConfig, AxiosResponse } from 'axios';
import { isPlainObject, mapValues, sortBy } from 'lodash';
import type { FakeClock, Sandbox } from '../../../sandbox';
import { turnsWhile } from '../../../sandbox/clock';
import { alike } from './alike';
import { clientFor } from './client';
import { comesFirst, happen, untilAllRan } from './happenings';
import { AS_STREAM, readOf, routeOf } from './read';
import { sendableBody, type SequenceExchange } from './recordings';
import { tokenFor } from './servers';
import { eventsIn, heard, inOne, recordedEvents, type Heard } from './streams';
import { Substitution } from './substitution';

/** Requests whose answer takes as long as a run does: the clock is moved on until it is there. */
const RUNS = /\/runs\/(wait|stream)$|\/stream$/;

const RUN = /\/runs\/([0-9a-f-]{36})/;

/** The turns after which a request that neither is answered nor sleeps waits for another one. */
const MOST_TURNS = 2000;

const LONGEST_MS = 120_000;

/** How often the sandbox is asked again for a document that it fetches and reads. */
const MOST_TRIES = 1000;

/** When an exchange was sent, and when its whole answer was there, in milliseconds since the sequence began. */
const sentAt = ({ atMs = 0 }: SequenceExchange): number => atMs;
const endedAt = ({ atMs = 0, tookMs = 0 }: SequenceExchange): number => atMs + tookMs;

interface Pending {
	exchange: SequenceExchange;
	answer: Promise<AxiosResponse<unknown>>;
	/** Ends the wait of a client that did not wait for the end. */
	leave?: () => Promise<AxiosResponse<unknown> | undefined>;
}

/** Plays a recorded sequence on one sandbox, request by request, in its time. */
export class Player {
	readonly client: AxiosInstance;
	private secret = '';

	constructor(
		readonly exchanges: SequenceExchange[],
		readonly sandbox: Sandbox,
		readonly clock: FakeClock,
		readonly substitution = new Substitution(sandbox.url),
	) {
		this.client = clientFor(sandbox);
	}

	/**
	 * Plays all: what was sent while an answer was waited for is sent while the sandbox works on it, as long after it as it
	 * was then.
	 */
	async play(): Promise<void> {
		const inOrder = sortBy(this.exchanges, sentAt);
		let waiting: Pending[] = [];
		let now = 0;
		const end = async (pending: Pending) => {
			const { exchange, answer, leave } = pending;
			const rest = Math.max(0, endedAt(exchange) - now);
			if (leave) await this.clock.advance(rest);
			const given = leave ? await leave() : await this.answered(exchange, answer);
			if (!leave && exchange.isSlow && !takesARun(exchange)) await this.clock.advance(rest);
			now = Math.max(now, endedAt(exchange));
			if (given) await this.comparing(exchange, given);
		};
		for (const exchange of inOrder) {
			const over = waiting.filter((one) => endedAt(one.exchange) <= sentAt(exchange));
			waiting = waiting.filter((one) => !over.includes(one));
			for (const one of sortBy(over, (each) => endedAt(each.exchange))) await end(one);
			if (exchange.isOnceAllRan) await untilAllRan(this);
			else await this.clock.advance(Math.max(5, sentAt(exchange) - now));
			now = Math.max(now, sentAt(exchange));
			if (exchange.happens) {
				for (const step of exchange.happens) await happen(this, step);
				continue;
			}
			const pending = this.begun(exchange);
			const goesOn = inOrder.some((other) => other !== exchange && isDuring(other, exchange));
			if (goesOn || pending.leave) await this.taken(pending.answer);
			if (goesOn) waiting.push(pending);
			else await end(pending);
		}
		for (const one of sortBy(waiting, (each) => endedAt(each.exchange))) await end(one);
	}

	async ended<T>(answer: Promise<T>): Promise<T> {
		let over = false;
		const end = () => void (over = true);
		answer.then(end, end);
		await this.taken(answer);
		for (let passed = 0; !over; passed += 100) {
			if (passed > LONGEST_MS) throw new Error('There was no answer, and no end of it');
			await this.clock.advance(100);
			await turns(100);
		}
		return await answer;
	}

	/** Sends a recorded request with the ids, and the latest client secret, that the sandbox gave. */
	private async send(
		exchange: SequenceExchange,
		signal?: AbortSignal,
		responseType?: 'stream',
	): Promise<AxiosResponse<unknown>> {
		const { request } = exchange;
		this.learnRun(exchange);
		if (exchange.endpoint === 'E15' && exchange.isSlow) comesFirst(this, exchange);
		const { key } = exchange;
		const token = key?.startsWith('client secret') ? this.secret : tokenFor(key);
		const headers = mapValues(this.substitution.apply(request.headers), (value) =>
			value.replace('<secret>', this.secret),
		);
		const sent = {
			method: request.method,
			url: this.substitution.apply(request.path),
			headers: { ...headers, authorization: token && `Bearer ${token}` },
			data: sendableBody(this.substitution.apply(request.body)),
		};
		if (AS_STREAM.test(sent.url)) return await this.asStream(sent, { signal, responseType });
		const answer = await this.client.request<unknown>({ ...sent, signal, responseType });
		this.secret = (answer.data as { client_secret?: string } | null)?.client_secret ?? this.secret;
		return answer;
	}

	/** A run that was asked for as a stream, which the node never does: it is begun, and joined. */
	private async asStream(
		sent: AxiosRequestConfig,
		how: AxiosRequestConfig,
	): Promise<AxiosResponse<unknown>> {
		const url = String(sent.url).replace(AS_STREAM, '/runs');
		const begun = await this.client.request<{ run_id: string }>({ ...sent, url });
		// A message beside a run is followed by silence.
		const { input } = sent.data as { input: { action?: unknown } };
		if (input.action === 'follow_up') return { ...begun, data: '' };
		const joined = { ...how, method: 'GET', url: `${url}/${begun.data.run_id}/stream` };
		return { ...(await this.client.request({ ...joined, headers: sent.headers })), status: 201 };
	}

	/** A run that only its own stream has named, which has not ended, is the newest there is. */
	private learnRun({ request, response }: SequenceExchange): void {
		const [, recorded = ''] = RUN.exec(request.path) ?? [];
		if (!recorded || !JSON.stringify(response).includes(recorded)) return;
		const newest = this.sandbox.store.runs.filter((run) => run.assistantId !== null).at(-1);
		this.substitution.learn(recorded, newest?.id);
	}

	private begun(exchange: SequenceExchange): Pending {
		const { response } = exchange;
		const gone = new AbortController();
		if ('complete' in response && response.complete === false) {
			return { exchange, answer: new Promise(() => undefined), leave: this.listen(exchange, gone) };
		}
		const answer = this.send(exchange, gone.signal);
		if (!isLeft(exchange)) return { exchange, answer };
		const nothing = () => undefined;
		const leave = async () => {
			gone.abort();
			return await answer.then(nothing, nothing);
		};
		return { exchange, answer, leave };
	}

	/** Sends what is answered by a stream that stays open; gives what came of it until it is left. */
	private listen(exchange: SequenceExchange, gone: AbortController) {
		const began = this.send(exchange, gone.signal, 'stream');
		let text = '';
		const listening = began.then(({ data }) => {
			(data as Readable).on('data', (piece) => void (text += String(piece))).on('error', () => {});
		});
		return async () => {
			await listening;
			// What was sent last needs a moment to arrive.
			await turns(50);
			gone.abort();
			return { ...(await began), data: text };
		};
	}

	/** The answer, for which the clock is moved on where it takes as long as a run; of what was polled the one looked for. */
	private async answered(
		exchange: SequenceExchange,
		answer: Promise<AxiosResponse<unknown>>,
	): Promise<AxiosResponse<unknown>> {
		if (takesARun(exchange)) return await this.ended(answer);
		let given = await answer;
		if (!exchange.isPolled) return given;
		const wanted = 'body' in exchange.response && statusOf(exchange.response.body);
		for (let tries = 0; statusOf(given.data) !== wanted && tries < 600; tries += 1) {
			await this.clock.advance(50);
			given = await this.send(exchange);
		}
		return given;
	}

	/** Compares an answer; that of `status` is asked for again, as the sandbox fetches and reads files. */
	private async comparing(exchange: SequenceExchange, answer: AxiosResponse<unknown>) {
		const most = exchange.endpoint.endsWith('status') ? MOST_TRIES : 0;
		const isLater = /at the end|quiet|^status$|before the change|there$/.test(exchange.label);
		let latest = answer;
		for (let tries = 0; ; tries += 1) {
			try {
				this.compare(exchange, latest);
				return;
			} catch (error) {
				if (tries === most) throw new Error(exchange.label, { cause: error });
			}
			await turns(20);
			if (isLater) await this.clock.advance(1000);
			latest = await this.send(exchange);
		}
	}

	/** Compares what the node reads of an answer with what it reads of the recorded one. */
	private compare(exchange: SequenceExchange, answer: AxiosResponse<unknown>): void {
		if (!('status' in exchange.response)) throw new Error(`${exchange.label} was never answered`);
		if (exchange.compared === 'nothing')
			return this.substitution.learn(exchange.response.body, answer.data);
		const events = recordedEvents(exchange);
		const wanted = { status: exchange.response.status, read: undefined as unknown };
		const found = { status: answer.status, read: undefined as unknown };
		if (events) {
			const [recorded, received] = [events, eventsIn(String(answer.data))].map((all) =>
				heard(all, exchange),
			) as [Heard[], Heard[]];
			const [one, other] = alike(recorded, received, false) as [Heard[], Heard[]];
			this.substitution.learn(one, other);
			[wanted.read, found.read] = [this.substitution.apply(inOne(one)), inOne(other)];
		} else if (exchange.compared !== 'status') {
			const [one, other] = alike(exchange.response.body, answer.data, exchange.isShort ?? false);
			this.substitution.learn(inTime(exchange, one), inTime(exchange, other));
			const route = routeOf(exchange.request) ?? '';
			const [read, now] = [
				readOf(route, wanted.status, inTime(exchange, one)),
				readOf(route, found.status, inTime(exchange, other)),
			];
			this.substitution.learn(read, now);
			wanted.read = inOrder(exchange, this.substitution.apply(read));
			found.read = inOrder(exchange, now);
		}
		expect(found).toEqual(wanted);
	}

	/** Lets the sandbox take a request in and begin to work, until it is answered or the work is asleep. */
	private async taken(answer: Promise<unknown>): Promise<void> {
		let over = false;
		const end = () => void (over = true);
		answer.then(end, end);
		const asleep = this.clock.sleeping;
		await turnsWhile(() => !over && this.clock.sleeping <= asleep, MOST_TURNS);
	}
}

/** Turns that sockets and files need, of which the sandbox's clock knows nothing. */
const turns = async (count: number) => await turnsWhile(() => true, count);

/** Runs, and conversations of shortened recordings, come in no order: to learn who is who, in that of their beginnings. */
function inTime(exchange: SequenceExchange, body: unknown): unknown {
	if (exchange.endpoint.endsWith('/runs'))
		return Array.isArray(body) ? sortBy(body, 'created_at') : body;
	return sorted(exchange, body, 'createdAt');
}

/** The same to compare them, in that of their ids. */
function inOrder(exchange: SequenceExchange, body: unknown): unknown {
	if (Array.isArray(body) && /\/runs$|status$/.test(exchange.endpoint)) {
		return sortBy(body, ['run_id', 'id']);
	}
	return sorted(exchange, body, 'id');
}

function sorted(
	{ endpoint, sequence, isShort }: SequenceExchange,
	body: unknown,
	by: string,
): unknown {
	const { items } = (isPlainObject(body) ? body : {}) as { items?: object[] };
	if (items && endpoint.endsWith('/messages') && sequence === 'two runs at once on one thread') {
		return { ...(body as object), items: sortBy(items, ['role', 'content[0].text', 'content']) };
	}
	if (!items || endpoint !== 'E5' || !isShort) return body;
	return { ...(body as object), items: sortBy(items, by) };
}

const takesARun = ({ request, isRun }: SequenceExchange): boolean =>
	isRun ?? RUNS.test(request.path);

const isDuring = (one: SequenceExchange, other: SequenceExchange): boolean =>
	!other.happens &&
	takesARun(other) &&
	sentAt(one) >= sentAt(other) &&
	sentAt(one) < endedAt(other);

/** Whether the client left before there was an answer, or before the end of a stream. */
const isLeft = ({ response }: SequenceExchange): boolean =>
	!('status' in response) ||
	(response.status as number | null) === null ||
	Boolean(response.ended?.startsWith('the client left'));

const statusOf = (body: unknown): unknown => (body as { status?: unknown } | null)?.status;
