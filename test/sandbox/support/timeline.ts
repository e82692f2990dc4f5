import type { AxiosResponse } from 'axios';
import { IS_THERE_BEFORE, OWN_ANSWERS } from './notReproduced';
import type { SequenceExchange } from './recordings';
import type { Player } from './sequences';

/** When an exchange was sent, and when its whole answer was there, in milliseconds since the sequence began. */
const sentAt = ({ atMs }: SequenceExchange): number => atMs ?? 0;
const endedAt = (exchange: SequenceExchange): number => sentAt(exchange) + (exchange.tookMs ?? 0);

/** Requests whose answer takes as long as a run does: the clock is moved on until it is there. */
const RUNS = /\/runs\/(wait|stream)$|\/stream$/;

interface Pending {
	exchange: SequenceExchange;
	answer: Promise<AxiosResponse<unknown>>;
}

/**
 * Plays a sequence as it was recorded in time: what was sent while an answer was waited for is sent while the sandbox
 * works on it, as long after it as it was then.
 */
export async function playInTime(player: Player): Promise<void> {
	const inOrder = player.exchanges.filter(isSent).sort((one, other) => sentAt(one) - sentAt(other));
	let waiting: Pending[] = [];
	let now = 0;
	const end = async ({ exchange, answer }: Pending) => {
		const given = RUNS.test(exchange.request.path) ? await player.ended(answer) : await answer;
		now = Math.max(now, endedAt(exchange));
		if (!OWN_ANSWERS.some(({ is }) => is(exchange))) await comparing(player, exchange, given);
	};
	for (const exchange of inOrder) {
		const over = waiting.filter((one) => endedAt(one.exchange) <= sentAt(exchange));
		waiting = waiting.filter((one) => !over.includes(one));
		for (const one of over) await end(one);
		await player.clock.advance(Math.max(10, sentAt(exchange) - now));
		now = Math.max(now, sentAt(exchange));
		const pending = { exchange, answer: player.send(exchange) };
		if (inOrder.some((other) => other !== exchange && isDuring(other, exchange))) {
			waiting.push(pending);
			await player.taken(pending.answer);
		} else await end(pending);
	}
	for (const one of waiting) await end(one);
}

/** Notes of what was seen elsewhere, in the database say, stand among the exchanges. */
const isSent = (exchange: SequenceExchange): boolean =>
	(exchange as Partial<SequenceExchange>).request !== undefined && !IS_THERE_BEFORE(exchange);

const isDuring = (one: SequenceExchange, other: SequenceExchange): boolean =>
	sentAt(one) >= sentAt(other) && sentAt(one) < endedAt(other);

/** Compares an answer; that of `status` waits for what the sandbox fetches and reads, which takes real time. */
async function comparing(
	player: Player,
	exchange: SequenceExchange,
	answer: AxiosResponse<unknown>,
): Promise<void> {
	const patience = Date.now() + (exchange.endpoint === 'status' ? 10_000 : 0);
	let latest = answer;
	for (;;) {
		try {
			player.compare(exchange, latest);
			return;
		} catch (error) {
			if (Date.now() > patience) throw named(player.exchanges.indexOf(exchange), exchange, error);
		}
		await new Promise((resolve) => setTimeout(resolve, 10));
		if (/at the end|quiet/.test(exchange.label)) await player.clock.advance(1000);
		latest = await player.send(exchange);
	}
}

function named(place: number, { label }: SequenceExchange, error: unknown): unknown {
	if (error instanceof Error) error.message = `${place} ${label}\n${error.message}`;
	return error;
}
