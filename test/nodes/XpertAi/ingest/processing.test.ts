import fc from 'fast-check';
import { range } from 'lodash';
import type { ProcessingFact } from 'nodes/XpertAi/ingest/facts';
import { Processing } from 'nodes/XpertAi/ingest/processing';
import { KnowledgebaseRoutes } from 'nodes/XpertAi/transport/knowledgebaseRoutes';
import type { LastProcessingState } from 'nodes/XpertAi/ingest/statuses';
import type { RequestOutcome } from 'nodes/XpertAi/transport/request';

import { calling } from '../../support/send';
import { virtualTime } from '../../support/virtualTime';
import { answered, failed, succeeded } from './support/outcomes';

const MINUTE = 60_000;
const ending = ({
	id,
	lastProcessingState: end,
}: ProcessingFact): [string, LastProcessingState] => [id, end];
type Request = { path: string; body?: unknown };

const idsOf = ({ path }: Request) => (path.split('?ids=')[1] ?? '').split(',');
const sentIds = ({ body }: Request) => JSON.parse(String(body)) as string[];
const all = (ids: string[], status: string | null) => succeeded(ids.map((id) => ({ id, status })));
const some = (count: number) => range(0, count).map(String);
const routeMissing = failed({ kind: 'status', status: 404, missing: 'route' });

/** What a test asks for besides the documents. */
interface Asked extends Partial<KnowledgebaseRoutes> {
	/** What the server answers when processing is to start. */
	queues?: (ids: string[]) => RequestOutcome;
	waitMs?: number;
}

/** Processes documents on a server whose status answers are given; it queues all it is sent, unless said otherwise. */
async function process(
	ids: string[],
	polls: Array<(ids: string[]) => RequestOutcome>,
	changes: Asked = {},
) {
	const { queues = (sent: string[]) => all(sent, 'running'), ...routes } = changes;
	const waitMs = 'waitMs' in changes ? changes.waitMs : 10 * MINUTE;
	const clock = virtualTime();
	const starts: string[][] = [];
	const asked: string[][] = [];
	const ends: Array<[string, LastProcessingState]> = [];
	let [underWay, most] = [0, 0];
	const send = calling(async (request) => {
		most = Math.max(most, ++underWay);
		await new Promise((resolve) => setImmediate(resolve));
		underWay -= 1;
		if (request.method === 'POST') {
			starts.push(sentIds(request));
			return queues(sentIds(request));
		}
		const poll = polls[Math.min(asked.length, polls.length - 1)];
		asked.push(idsOf(request));
		return poll ? poll(idsOf(request)) : succeeded();
	});
	const processing = new Processing(
		{
			processPath: '/knowledges/1/process',
			statusPathOf: (part) => `/knowledges/1/status?ids=${part.join(',')}`,
			send,
			clock,
			...routes,
		},
		waitMs,
	);
	ids.forEach((id) => processing.add(id));
	for await (const facts of processing.startRestAndPoll()) ends.push(...facts.map(ending));
	const said = new Map(ends);
	return { ...processing.result, starts, asked, waits: clock.waits, ends, said, most };
}

describe('starting the processing of documents', () => {
	it.each([
		['without a wait', undefined],
		['with a wait of no time', 0],
	])('polls nothing %s', async (_, waitMs) => {
		const { asked, waits, ends } = await process(['a'], [], { waitMs });
		expect({ asked, waits, ends }).toEqual({
			asked: [],
			waits: [],
			ends: [['a', { state: 'running' }]],
		});
	});

	it.each([
		[100, [10, 10, 10, 10, 10, 10, 10, 10, 10, 10]],
		[301, [10, 10, 10, 10, 10, 50, 40, 32, 25, 20, 16, 13, 11, 10, 10, 10, 10, 4]],
		[2000, expect.arrayContaining([10, 100])],
	])('of %d shares what is pending among five requests', async (count, sizes) => {
		const { starts, most } = await process(some(count), [(part) => all(part, 'finish')]);
		expect(starts.flat()).toEqual(some(count));
		expect(starts.map((part) => part.length)).toEqual(sizes);
		expect(Math.max(...starts.map((part) => part.length))).toBeLessThanOrEqual(100);
		expect(most).toBe(5);
	});

	it('polls no more while documents are stored, once a poll has failed', async () => {
		const clock = virtualTime();
		const asked: string[][] = [];
		const send = calling(async (request) => {
			if (request.method === 'POST') return all(sentIds(request), 'running');
			asked.push(idsOf(request));
			return answered(403);
		});
		const statusPathOf = (part: string[]) => `/knowledges/1/status?ids=${part.join(',')}`;
		const routes = { processPath: '/knowledges/1/process', statusPathOf, send, clock };
		const processing = new Processing(routes, MINUTE);
		some(20).forEach((id) => processing.add(id));
		for (let hour = 0; hour < 3; hour += 1) {
			await processing.startRemaining();
			clock.pass(60 * MINUTE);
			processing.pollWhenDue();
		}
		expect(asked).toHaveLength(1);
	});

	it('ends with a failure; documents started before stay in process', async () => {
		const { failure, said, starts, asked, allStarted } = await process(some(200), [], {
			queues: (ids) => (ids.includes('10') ? answered(403) : all(ids, 'running')),
		});
		expect(failure).toMatchObject({ status: 403 });
		expect({ allStarted, asked }).toEqual({ allStarted: false, asked: [] });
		expect(starts.length).toBeLessThan(10);
		const running = [...said.values()].filter(({ state }) => state === 'running');
		const accepted = starts.filter((ids) => !ids.includes('10'));
		expect(running).toHaveLength(accepted.flat().length);
		expect(said.size).toBe(200);
		expect(said.get('10')).toEqual({ state: 'none', startFailure: failure, hasNoRoute: false });
		expect(said.get('199')).toEqual({ state: 'none', startFailure: failure, hasNoRoute: false });
	});
});

describe('a server without a route to process', () => {
	it.each<[string, Array<RequestOutcome | undefined>, boolean]>([
		['its 404', [routeMissing], true],
		['no 404 of a record', [answered(404)], false],
		['no stray 404', [failed({ kind: 'status', status: 404 })], false],
		['no such 404 once it has processed documents', [undefined, routeMissing], false],
	])('is recognized by %s', async (_, outcomes, isMissing) => {
		let start = 0;
		const queues = (ids: string[]) =>
			outcomes[Math.min(start++, outcomes.length - 1)] ?? all(ids, 'running');
		const { hasNoRoute, said } = await process(some(30), [], { queues });
		expect(hasNoRoute).toBe(isMissing);
		const failure = { status: 404 };
		expect(said.get('29')).toMatchObject({
			state: 'none',
			startFailure: failure,
			hasNoRoute: isMissing,
		});
	});

	it('is not one that lacks the route for statuses', async () => {
		const { hasNoRoute, failure, allStarted } = await process(['a'], [() => routeMissing]);
		expect({ hasNoRoute, allStarted }).toEqual({ hasNoRoute: false, allStarted: true });
		expect(failure).toMatchObject({ status: 404 });
	});
});

describe('documents that the server has not queued', () => {
	const queues = (ids: string[]) =>
		all(
			ids.filter((id) => id === 'a'),
			'running',
		);

	it('are polled with the others until they end', async () => {
		const { said, asked } = await process(
			['a', 'b'],
			[(ids) => all(ids, 'embedding'), (ids) => all(ids, 'finish')],
			{ queues },
		);
		expect(asked).toEqual([
			['a', 'b'],
			['a', 'b'],
		]);
		expect([said.get('a'), said.get('b')]).toEqual([{ state: 'finish' }, { state: 'finish' }]);
	});

	it.each([
		['the server does not know it in this knowledgebase', () => succeeded([])],
		['the server did not begin, though it was asked to twice', (ids: string[]) => all(ids, null)],
	])(
		'are started once more, and then reported as not processed: %s',
		async (processMsg, status) => {
			const { said, starts, asked } = await process(['a', 'b'], [status], {
				queues,
				waitMs: undefined,
			});
			expect(starts).toEqual([['a', 'b'], ['b']]);
			expect(asked).toEqual([['b'], ['b']]);
			expect(said.get('b')).toEqual({ state: 'none', processMsg });
			expect(said.get('a')).toEqual({ state: 'running' });
		},
	);

	it('may be in process although one answer leaves them out', async () => {
		const { said } = await process(['b'], [() => succeeded([]), (ids) => all(ids, 'running')], {
			queues,
			waitMs: undefined,
		});
		expect(said.get('b')).toEqual({ state: 'running' });
	});

	it.each<[string, RequestOutcome]>([
		['an object', succeeded({ ok: true })],
		['nothing', { ok: true, status: 201, answer: undefined }],
		['a list of something else', succeeded([{ success: false }])],
	])('cannot be told when the answer is %s', async (_, answer) => {
		const { said, failure } = await process(['a'], [], { queues: () => answer });
		expect(failure).toMatchObject({ kind: 'unreadable' });
		expect(said.get('a')).toMatchObject({ state: 'none', startFailure: { kind: 'unreadable' } });
	});

	it('are reported as not started when their statuses cannot be read', async () => {
		const { failure, said, allStarted } = await process(['a', 'b'], [() => answered(503)], {
			queues,
		});
		expect(failure).toMatchObject({ status: 503 });
		expect(allStarted).toBe(false);
		expect(said.get('a')).toEqual({ state: 'running' });
		expect(said.get('b')).toMatchObject({ state: 'none', startFailure: failure });
	});
});

describe('a queued document without a status', () => {
	it('is started once more, and then given up', async () => {
		const { said, starts, waits } = await process(['a'], [(ids) => all(ids, null)]);
		expect(starts).toEqual([['a'], ['a']]);
		expect(waits).toEqual([250, 375]);
		expect(said.get('a')).toMatchObject({ state: 'none' });
	});

	it('is started again each time it was seen in process in between', async () => {
		const { said, starts } = await process(
			['a'],
			[null, 'running', null, 'running', 'finish'].map((status) => (ids) => all(ids, status)),
		);
		expect(starts).toEqual([['a'], ['a'], ['a']]);
		expect(said.get('a')).toEqual({ state: 'finish' });
	});
});

describe('a document that an earlier run started', () => {
	/** What the server has been at since an earlier run: the documents whose ids say so. */
	const isOld = (id: string) => id.startsWith('old');
	const queues = (ids: string[]) =>
		all(
			ids.filter((id) => !isOld(id)),
			'running',
		);
	const wait = { queues, waitMs: 30 * MINUTE };

	it('is given up after five minutes without progress, unlike one that this run started', async () => {
		const look = (ids: string[]) => all(ids, 'running');
		const { said, unfinished } = await process(['new', 'old'], [look], wait);
		expect(unfinished).toBe(1);
		expect(said.get('old')).toEqual({ state: 'running', isStuck: true });
		expect(said.get('new')).toEqual({ state: 'running' });
		const { waits } = await process(['old'], [look], wait);
		const waited = waits.reduce((sum, ms) => sum + ms, 0);
		expect(waited).toBeGreaterThan(5 * MINUTE);
		expect(waited).toBeLessThan(6 * MINUTE);
	});

	it.each<[string, (turn: number) => object]>([
		['progress', (turn) => ({ status: 'running', progress: Math.floor(turn / 15) })],
		['status', (turn) => ({ status: Math.floor(turn / 15) % 2 ? 'embedding' : 'splitted' })],
	])('is waited for as long as its %s changes', async (_, status) => {
		let turn = 0;
		const { unfinished } = await process(
			['old'],
			[(ids) => succeeded(ids.map((id) => ({ id, ...status(turn++) })))],
			wait,
		);
		expect(unfinished).toBe(1);
	});

	it('is waited for as long as others end', async () => {
		let turn = 0;
		// One ends every ten looks.
		const look = (ids: string[]) => {
			const left = 20 - Math.floor(++turn / 10);
			const status = (id: string) => (Number(id) >= left ? 'finish' : 'running');
			return succeeded(ids.map((id) => ({ id, status: status(id) })));
		};
		const { said, unfinished } = await process(['old', ...some(20)], [look], wait);
		expect(unfinished).toBeGreaterThan(1);
		expect(said.get('old')).toEqual({ state: 'running' });
	});

	it.each<[string, RequestOutcome, object]>([
		['progresses at the last poll', succeeded([{ id: 'old', status: 'running', progress: 1 }]), {}],
		['cannot be polled any more', answered(403), { state: 'running' }],
	])('is not given up where it %s', async (_, atLast, told) => {
		const clock = virtualTime();
		let isOver = false;
		const look = (ids: string[]) => {
			isOver = clock.elapsed() >= 5 * MINUTE;
			return isOver ? atLast : all(ids, 'running');
		};
		const { said } = await process(['old'], [look], { ...wait, waitMs: 9 * MINUTE, clock });
		expect(isOver).toBe(true);
		expect(said.get('old')).toMatchObject(told);
		expect(said.get('old')).not.toHaveProperty('isStuck');
	});
});

describe('waiting for the processing', () => {
	it('polls less and less often, and only documents that have not ended', async () => {
		const looks = [
			[
				{ id: 'a', status: 'finish', progress: 100 },
				{ id: 'b', status: 'running', progress: 100 },
				{ id: 'c', status: 'running' },
			],
			[
				{ id: 'b', status: 'error', processMsg: 'no text' },
				{ id: 'c', status: 'running' },
			],
			[{ id: 'c', status: 'embedding' }],
			[{ id: 'c', status: 'cancel' }],
		];
		const { asked, waits, ends, unfinished } = await process(
			['a', 'b', 'c'],
			looks.map((answer) => () => succeeded(answer)),
		);
		expect(asked).toEqual([['a', 'b', 'c'], ['b', 'c'], ['c'], ['c']]);
		expect(waits).toEqual([750, 1125, 1687.5, 2531.25]);
		expect(unfinished).toBe(0);
		expect(ends).toEqual([
			['a', { state: 'finish' }],
			['b', { state: 'error', processMsg: 'no text' }],
			['c', { state: 'cancel' }],
		]);
	});

	it.each([1, 2, 5])(
		'ends soon after the server has, where there are %i documents',
		async (count) => {
			await fc.assert(
				fc.asyncProperty(fc.integer({ min: 1, max: 60_000 }), async (takesMs) => {
					const clock = virtualTime();
					const look = (ids: string[]) =>
						all(ids, clock.elapsed() >= takesMs ? 'finish' : 'running');
					const { said } = await process(some(count), [look], { clock });
					expect([...said.values()]).toEqual(some(count).map(() => ({ state: 'finish' })));
					expect(clock.elapsed()).toBeLessThanOrEqual(Math.max(count * 250, takesMs * 2.5));
					expect(clock.elapsed() - takesMs).toBeLessThan(15_000);
				}),
			);
		},
	);

	it('polls many documents every two seconds at most', async () => {
		const clock = virtualTime();
		const look = (ids: string[]) => all(ids, clock.elapsed() >= 9500 ? 'finish' : 'running');
		const { asked } = await process(some(100), [look], { clock });
		expect(clock.waits).toEqual([2000, 3000, 4500]);
		expect(asked).toHaveLength(3);
	});

	it('ends at the deadline with what is known by then', async () => {
		const { waits, said, unfinished } = await process(
			['a', 'b'],
			[(ids) => succeeded(ids.map((id) => ({ id, status: id === 'a' ? 'finish' : 'embedding' })))],
			{ waitMs: 8000 },
		);
		expect(waits.reduce((sum, ms) => sum + ms, 0)).toBe(8000);
		expect(unfinished).toBe(1);
		expect([said.get('a'), said.get('b')]).toEqual([{ state: 'finish' }, { state: 'running' }]);
	});

	it('polls all documents once more at the deadline', async () => {
		const { said, unfinished } = await process(
			some(300),
			[
				(ids) =>
					succeeded(ids.map((id) => ({ id, status: Number(id) < 200 ? 'running' : 'finish' }))),
			],
			{ waitMs: MINUTE },
		);
		expect(unfinished).toBe(200);
		expect(said.get('299')).toEqual({ state: 'finish' });
	});

	it('reports a document once that was added twice', async () => {
		const { ends, asked } = await process(['a', 'a'], [(ids) => all(ids, 'finish')]);
		expect(asked).toEqual([['a']]);
		expect(ends).toEqual([['a', { state: 'finish' }]]);
	});

	it('polls nothing after Stop', async () => {
		const stop = new AbortController();
		const clock = { ...virtualTime(), sleep: async () => stop.abort() };
		const { asked, unfinished } = await process(['a'], [(ids) => all(ids, 'running')], {
			clock,
			signal: stop.signal,
		});
		expect({ asked, unfinished }).toEqual({ asked: [], unfinished: 1 });
	});

	it('does not restart documents because of a poll that Stop interrupted', async () => {
		const stop = new AbortController();
		const { starts } = await process(
			['a'],
			[
				() => {
					stop.abort();
					return succeeded([]);
				},
			],
			{ signal: stop.signal },
		);
		expect(starts).toEqual([['a']]);
	});
});

/** A server that works through what it has queued in order, so many a second, and never ends some of it. */
function working(perSecond: number, stuck: number) {
	const clock = virtualTime();
	const queued: string[] = [];
	const known = new Set<string>();
	let looks = 0;
	const endedBy = () => Math.floor((clock.elapsed() / 1000) * perSecond);
	const open = (id: string) => Number(id) < stuck || queued.indexOf(id) >= endedBy();
	const send = calling(async (request) => {
		await Promise.resolve();
		if (request.method === 'POST') {
			const fresh = sentIds(request).filter((id) => !known.has(id));
			for (const id of fresh) {
				known.add(id);
				queued.push(id);
			}
			return all(fresh, 'running');
		}
		looks += 1;
		return succeeded(idsOf(request).map((id) => ({ id, status: open(id) ? 'running' : 'finish' })));
	});
	const routes = {
		processPath: '/process',
		statusPathOf: (part: string[]) => `/status?ids=${part.join(',')}`,
		send,
		clock,
	};
	return { routes, clock, looks: () => looks };
}

describe('very many documents', () => {
	const count = 5000;

	it.each([
		[20, 5, 0, count],
		[20, 20, 0, count],
		[20, 80, 0, 1000],
		[200, 800, 0, 1000],
		[20, 20, 60, count],
	])(
		'stored at %i a second, processed at %i, of which %i never end, are followed with few polls',
		async (stored, processed, stuck, mostOpen) => {
			const { routes, clock, looks } = working(processed, stuck);
			const ended = new Map<string, LastProcessingState>();
			let most = 0;
			const processing = new Processing(routes, 600 * MINUTE);
			const hear = (facts: ProcessingFact[]) => {
				for (const { id, lastProcessingState: end } of facts) ended.set(id, end);
			};
			for (const id of some(count)) {
				processing.add(id);
				hear(processing.takeFacts());
				if (Number(id) % 100 !== 99) continue;
				clock.pass((100 / stored) * 1000);
				for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
				hear(processing.takeFacts());
				most = Math.max(most, Number(id) + 1 - ended.size);
			}
			for await (const facts of processing.startRestAndPoll()) hear(facts);
			const finished = [...ended.values()].filter(({ state }) => state === 'finish');
			expect([ended.size, finished.length]).toEqual([count, count - stuck]);
			expect(looks()).toBeLessThanOrEqual(stuck ? 3000 : count / 50);
			expect(most).toBeLessThanOrEqual(mostOpen);
		},
	);
});

it('every document is reported once, whatever the server answers', async () => {
	const answer = fc.constantFrom<(ids: string[]) => RequestOutcome>(
		(ids) => all(ids, 'running'),
		(ids) => all(ids, 'finish'),
		(ids) => all(ids, 'error'),
		(ids) => all(ids, null),
		(ids) => all(ids.slice(1), 'finish'),
		() => succeeded([]),
		() => succeeded({ success: false }),
		() => ({ ok: true, status: 200, answer: undefined }),
		() => succeeded([{ id: 'other', status: 'finish' }]),
		() => answered(404),
		() => failed({ kind: 'status', status: 404 }),
		() => routeMissing,
		() => answered(500),
	);
	await fc.assert(
		fc.asyncProperty(
			fc.nat(45),
			fc.array(answer, { minLength: 1, maxLength: 8 }),
			fc.array(answer, { minLength: 1, maxLength: 8 }),
			fc.constantFrom(undefined, 0, 20 * MINUTE),
			async (count, starting, polls, waitMs) => {
				let start = 0;
				const queues = (ids: string[]) =>
					starting[Math.min(start++, starting.length - 1)]?.(ids) ?? routeMissing;
				const { ends, said, failure, unfinished } = await process(some(count), polls, {
					queues,
					waitMs,
				});
				expect(ends.map(([id]) => id).sort()).toEqual(some(count).sort());
				const words = [...said.values()];
				if (waitMs !== undefined && !failure)
					expect(words.filter(({ state }) => state === 'running')).toHaveLength(
						unfinished + words.filter(({ isStuck }) => isStuck).length,
					);
				expect(words.filter((end) => end.startFailure && end.state !== 'none')).toEqual([]);
			},
		),
	);
});
