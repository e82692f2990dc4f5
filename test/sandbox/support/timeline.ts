import type { AxiosResponse } from 'axios';
import { sortBy } from 'lodash';
import { LATER, NOT_SENT, OWN_ANSWERS } from './notReproduced';
import type { SequenceExchange } from './recordings';
import type { Player } from './sequences';

/** When an exchange was sent, and when its whole answer was there, in milliseconds since the sequence began. */
const sentAt = ({ atMs }: SequenceExchange): number => atMs ?? 0;
const endedAt = (exchange: SequenceExchange): number => sentAt(exchange) + (exchange.tookMs ?? 0);

/** Requests whose answer takes as long as a run does: the clock is moved on until it is there. */
const RUNS = /\/runs\/(wait|stream)$|\/stream$/;

/** Whether time passes until an answer is there that is no run's: it does where a server was slow. */
const isSlow = ({ recording = '', request }: SequenceExchange): boolean =>
	LATER.test(recording) && !RUNS.test(request.path);

interface Pending {
	exchange: SequenceExchange;
	answer: Promise<AxiosResponse<unknown>>;
	/** Ends the wait of a client that did not wait for the end. */
	leave?: () => Promise<AxiosResponse<unknown> | undefined>;
}

/**
 * Plays a sequence as it was recorded in time: what was sent while an answer was waited for is sent while the sandbox
 * works on it, as long after it as it was then.
 */
export async function playInTime(player: Player): Promise<void> {
	const inOrder = sortBy(player.exchanges.filter(isSent).map(promptly), sentAt);
	let waiting: Pending[] = [];
	let now = 0;
	const end = async ({ exchange, answer, leave }: Pending) => {
		const rest = Math.max(0, endedAt(exchange) - now);
		if (leave) await player.clock.advance(rest);
		const given = leave ? await leave() : await answered(player, exchange, answer);
		if (!leave && isSlow(exchange)) await player.clock.advance(rest);
		now = Math.max(now, endedAt(exchange));
		if (given && !OWN_ANSWERS.some(({ is }) => is(exchange)))
			await comparing(player, exchange, given);
	};
	for (const exchange of inOrder) {
		const over = waiting.filter((one) => endedAt(one.exchange) <= sentAt(exchange));
		waiting = waiting.filter((one) => !over.includes(one));
		for (const one of sortBy(over, (each) => endedAt(each.exchange))) await end(one);
		if (/^change the embedding model/.test(exchange.label)) await player.untilAllIsProcessed();
		if (exchange.label.includes('as soon as')) await player.untilNothingRuns();
		else await player.clock.advance(Math.max(5, sentAt(exchange) - now));
		now = Math.max(now, sentAt(exchange));
		if (exchange.happens) {
			await exchange.happens(player);
			continue;
		}
		const pending = begun(player, exchange);
		const goesOn = inOrder.some((other) => other !== exchange && isDuring(other, exchange));
		if (goesOn || pending.leave) await player.taken(pending.answer);
		if (goesOn) waiting.push(pending);
		else await end(pending);
	}
	for (const one of sortBy(waiting, (each) => endedAt(each.exchange))) await end(one);
}

/** A run is `running` from its start: what was polled until it was seen so is asked for right after the start. */
function promptly(
	exchange: SequenceExchange,
	place: number,
	all: SequenceExchange[],
): SequenceExchange {
	const { response, label, request, happens } = exchange;
	if (happens) return exchange;
	const isRunning = 'body' in response && statusOf(response.body) === 'running';
	if (!label.includes('as it was polled') || !isRunning) return exchange;
	const start = all
		.slice(0, place)
		.reverse()
		.find((one) => 'body' in one.response && names(one.response.body, request.path));
	return { ...exchange, atMs: sentAt(start ?? exchange) + 5 };
}

const names = (body: unknown, path: string): boolean => {
	const { run_id: id } = (body ?? {}) as { run_id?: unknown };
	return typeof id === 'string' && path.endsWith(id);
};

/** What happens on the server has its place among what is sent. */
const isSent = (exchange: SequenceExchange): boolean =>
	exchange.happens !== undefined || !NOT_SENT(exchange);

const isDuring = (one: SequenceExchange, other: SequenceExchange): boolean =>
	!other.happens &&
	RUNS.test(other.request.path) &&
	sentAt(one) >= sentAt(other) &&
	sentAt(one) < endedAt(other);

/** Whether the client left before there was an answer, or before the end of a stream. */
const isLeft = ({ response }: SequenceExchange): boolean =>
	!('status' in response) ||
	(response.status as number | null) === null ||
	Boolean(response.ended?.startsWith('the client left'));

/** Whether a stream was left before its end, with what had come until then. */
const isOpen = ({ response }: SequenceExchange): boolean =>
	'complete' in response && response.complete === false;

function begun(player: Player, exchange: SequenceExchange): Pending {
	if (isOpen(exchange)) {
		const { leave } = player.listen(exchange);
		return { exchange, answer: new Promise(() => undefined), leave };
	}
	if (!isLeft(exchange)) return { exchange, answer: player.send(exchange) };
	const gone = new AbortController();
	const answer = player.send(exchange, gone.signal);
	const leave = async () => {
		gone.abort();
		return await answer.then(
			() => undefined,
			() => undefined,
		);
	};
	return { exchange, answer, leave };
}

/** The answer, for which the clock is moved on where it takes as long as a run; of what was polled the one looked for. */
async function answered(
	player: Player,
	exchange: SequenceExchange,
	answer: Promise<AxiosResponse<unknown>>,
): Promise<AxiosResponse<unknown>> {
	if (RUNS.test(exchange.request.path)) return await player.ended(answer);
	let given = await answer;
	if (!/as it was polled|first time with this status/.test(exchange.label)) return given;
	const wanted = 'body' in exchange.response && statusOf(exchange.response.body);
	for (let tries = 0; statusOf(given.data) !== wanted && tries < 600; tries += 1) {
		await player.clock.advance(50);
		given = await player.send(exchange);
	}
	return given;
}

const statusOf = (body: unknown): unknown => (body as { status?: unknown } | null)?.status;

/** Compares an answer; that of `status` waits for what the sandbox fetches and reads, which takes real time. */
async function comparing(
	player: Player,
	exchange: SequenceExchange,
	answer: AxiosResponse<unknown>,
): Promise<void> {
	const deadline = Date.now() + (exchange.endpoint.endsWith('status') ? 10_000 : 0);
	let latest = answer;
	for (;;) {
		try {
			player.compare(exchange, latest);
			return;
		} catch (error) {
			if (Date.now() > deadline) throw named(player.exchanges.indexOf(exchange), exchange, error);
		}
		await new Promise((resolve) => setTimeout(resolve, 10));
		if (/at the end|quiet|^status$|before the change/.test(exchange.label))
			await player.clock.advance(1000);
		latest = await player.send(exchange);
	}
}

function named(place: number, { label }: SequenceExchange, error: unknown): unknown {
	if (error instanceof Error) error.message = `${place} ${label}\n${error.message}`;
	return error;
}
