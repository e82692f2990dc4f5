import type { AxiosResponse } from 'axios';
import { OWN_ANSWERS } from './notReproduced';
import type { SequenceExchange } from './recordings';
import type { Player } from './sequences';

/** When an exchange was sent, and when its whole answer was there, in milliseconds since the sequence began. */
const sentAt = ({ atMs }: SequenceExchange): number => atMs ?? 0;
const endedAt = (exchange: SequenceExchange): number => sentAt(exchange) + (exchange.tookMs ?? 0);

interface Pending {
	exchange: SequenceExchange;
	answer: Promise<AxiosResponse<unknown>>;
}

/**
 * Plays a sequence as it was recorded in time: what was sent while an answer was waited for is sent while the sandbox
 * works on it, as long after it as it was then.
 */
export async function playInTime(player: Player): Promise<void> {
	const inOrder = [...player.exchanges].sort((one, other) => sentAt(one) - sentAt(other));
	let waiting: Pending[] = [];
	let now = 0;
	const end = async ({ exchange, answer }: Pending) => {
		const given = await player.ended(answer);
		now = Math.max(now, endedAt(exchange));
		if (!OWN_ANSWERS.some(({ is }) => is(exchange))) comparing(player, exchange, given);
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
			await player.settled(pending.answer);
		} else await end(pending);
	}
	for (const one of waiting) await end(one);
}

const isDuring = (one: SequenceExchange, other: SequenceExchange): boolean =>
	sentAt(one) >= sentAt(other) && sentAt(one) < endedAt(other);

function comparing(
	player: Player,
	exchange: SequenceExchange,
	answer: AxiosResponse<unknown>,
): void {
	try {
		player.compare(exchange, answer);
	} catch (error) {
		if (error instanceof Error) {
			error.message = `${player.exchanges.indexOf(exchange)} ${exchange.label}\n${error.message}`;
		}
		throw error;
	}
}
