import { setTimeout as wait } from 'node:timers/promises';
import { FakeClock, startSandbox, type Sandbox } from '../../sandbox';
import { clientFor } from './support/client';
import { sequence, type SequenceExchange } from './support/recordings';
import { Player, RECORDED_SERVER } from './support/sequences';

/** How one of the exchanges is played that is not simply sent and compared. */
type Play = (player: Player, exchange: SequenceExchange) => Promise<void>;

const SECOND = 1000;
const COPILOT = 'f527aa6c-301b-4e2a-a82d-81ac9cf295b4';

/** The answer that an exchange before this one still waits for. */
const pending: Array<Promise<void>> = [];

const THREAD = /threads\/([^/]+)/;

const asUsual: Play = async (player, exchange) => {
	await player.clock.advance(10);
	const answer = player.send(exchange);
	player.compare(exchange, await (exchange.endpoint === 'E4' ? player.ended(answer) : answer));
};

/** Processing goes on in time: looks until it is over. */
const atTheEnd: Play = async (player, exchange) => {
	let answer = await player.send(exchange);
	while (JSON.stringify(answer.data).match(/"(running|transformed|splitted|embedding)"/)) {
		await player.clock.advance(SECOND);
		await wait(5);
		answer = await player.send(exchange);
	}
	player.compare(exchange, answer);
};

const goesAway: Play = async (player, exchange) => {
	const gone = new AbortController();
	const answer = player.send(exchange, gone.signal).catch((error: Error) => error.message);
	await player.clock.untilSleeping();
	await player.clock.advance(1.5 * SECOND);
	gone.abort();
	expect(await answer).toBe('canceled');
};

const cancelled: Play = async (player, exchange) => {
	const answer = player.send(exchange);
	await player.clock.untilSleeping();
	await player.clock.advance(4 * SECOND);
	const [, threadId] = THREAD.exec(player.substitution.apply(exchange.request.path)) ?? [];
	const { data } = await player.client.post<unknown>(`/sandbox/threads/${threadId}/cancel`);
	expect(data).toEqual({ cancelled: 1 });
	player.compare(exchange, await answer);
};

/** A run whose answer is compared once the exchange after it has been played. */
const begins: Play = async (player, exchange) => {
	const answer = player.send(exchange);
	await player.clock.untilSleeping();
	pending.push(answer.then((one) => player.compare(exchange, one)));
};

/** Of two runs at once the last to end is kept; in the recording it was the one that stands first. */
const oneOfTwo: Play = async (player, exchange) => {
	const other = player.exchanges[player.exchanges.indexOf(exchange) + 1] ?? exchange;
	const otherAnswer = player.send(other);
	await player.clock.untilSleeping(1);
	const answer = player.send(exchange);
	await player.clock.untilSleeping(2);
	await player.clock.advance(2 * SECOND);
	player.compare(exchange, await answer);
	pending.push(otherAnswer.then((one) => player.compare(other, one)));
};

const endPending: Play = async (player) => {
	await player.ended(Promise.all(pending.splice(0)));
};

const whenItHasEnded: Play = async (player, exchange) => {
	await player.clock.advance(6 * SECOND);
	await asUsual(player, exchange);
};

const PLAYS: Record<string, Play> = {
	'status at the end': atTheEnd,
	'status there': atTheEnd,
	'a run whose caller goes away after 1.5 s': goesAway,
	'when it has ended': whenItHasEnded,
	'a run that somebody cancels after 4 s': cancelled,
	'one of two runs at once': oneOfTwo,
	'the other': endPending,
	confirm: begins,
	reject: begins,
	'while the decision is carried out': async (player, exchange) => {
		await player.clock.advance(0.3 * SECOND);
		player.compare(exchange, await player.send(exchange));
		await endPending(player, exchange);
	},
};

interface Listed {
	id: string;
	status: string | null;
}

/** How many of the recorded server's conversations have each status, as its totals say. */
const NUMBERS: Array<[status: string | null, label: string]> = [
	['idle', 'search with $gte and status'],
	['error', 'search with $ne'],
	[null, 'search with $isNull'],
];

/** Older than all that a sequence makes, newer than what its lists show first. */
const BETWEEN = '2026-11-21T19:37:00.000Z';

const bodyOf = (search: SequenceExchange | undefined) => {
	const { response } = search ?? {};
	const body = response && 'body' in response ? response.body : {};
	return body as { items?: Listed[]; total?: number };
};

/** The conversations that the recorded searches found, and others to make up their numbers. */
function arrangeConversations({ store }: Sandbox, exchanges: SequenceExchange[]): void {
	const searches = exchanges.filter(({ label }) => label.startsWith('search with'));
	const listed = new Map(
		searches.flatMap((one) => bodyOf(one).items ?? []).map((one) => [one.id, one]),
	);
	for (const item of listed.values()) store.putConversation({ ...item });
	for (const [status, label] of NUMBERS) {
		const { total } = bodyOf(searches.find((one) => one.label === label));
		if (total === undefined) continue;
		const shown = [...listed.values()].filter((one) => one.status === status).length;
		// One conversation without a run is made by the sequence itself.
		const others = total - shown - (status === null ? 1 : 0);
		for (let made = 0; made < others; made += 1) {
			store.putConversation({ status, createdAt: BETWEEN, updatedAt: BETWEEN });
		}
	}
}

const BEGAN = {
	searchable: '2026-11-21T19:38:00.000Z',
	runs: '2026-11-21T20:08:00.000Z',
	interrupts: '2026-11-21T20:16:00.000Z',
};

describe.each(['searchable', 'runs', 'interrupts'] as const)('the sequence %s', (name) => {
	let sandbox: Sandbox;

	afterEach(() => sandbox.close());

	it('is replayed in order', async () => {
		const clock = new FakeClock(Date.parse(BEGAN[name]));
		sandbox = await startSandbox({ ...RECORDED_SERVER, clock });
		sandbox.store.copilots.add(COPILOT);
		const player = new Player(sequence(name), sandbox, clientFor(sandbox), clock);
		arrangeConversations(sandbox, player.exchanges);
		for (const [index, exchange] of player.exchanges.entries()) {
			const play = PLAYS[exchange.label] ?? asUsual;
			await play(player, exchange).catch((error: Error) => {
				error.message = `${index} ${exchange.label}\n${error.message}`;
				throw error;
			});
		}
		expect(pending).toEqual([]);
	});
});
