import { range } from 'lodash';

import {
	ProcessingStart,
	askStatuses,
	processingWord,
} from '../../../../nodes/XpertAi/ingest/processing';
import type { ProcessingRoutes } from '../../../../nodes/XpertAi/ingest/processing';
import type { ApiRequest, Outcome } from '../../../../nodes/XpertAi/transport/request';
import { virtualTime } from '../../support/virtualTime';
import { answered, checking, succeeded } from './support/outcomes';

const MINUTE = 60_000;
type Request = Omit<ApiRequest, 'timeoutMs'>;

const idsOf = ({ path }: Request) => (path.split('?ids=')[1] ?? '').split(',');
const sentIds = ({ body }: Request) => JSON.parse(String(body)) as string[];
const all = (ids: string[], status: string | null) => succeeded(ids.map((id) => ({ id, status })));
const some = (count: number) => range(0, count).map(String);

/** What a test asks for besides the documents. */
interface Asked extends Partial<ProcessingRoutes> {
	/** What the server answers when processing is to start. */
	queues?: (ids: string[]) => Outcome;
	/** Documents that an earlier run has started. */
	running?: string[];
	waitMs?: number;
}

/** Processes documents on a server whose status answers are given; it queues all it is sent, unless said otherwise. */
async function process(
	ids: string[],
	polls: Array<(ids: string[]) => Outcome>,
	changes: Asked = {},
) {
	const { queues = (sent: string[]) => all(sent, 'running'), running = [], ...routes } = changes;
	const waitMs = 'waitMs' in changes ? changes.waitMs : 10 * MINUTE;
	const clock = virtualTime();
	const starts: string[][] = [];
	const asked: string[][] = [];
	let [underWay, most] = [0, 0];
	const processing = new ProcessingStart({
		startPath: '/knowledges/1/process',
		statusPath: (part) => `/knowledges/1/status?ids=${part.join(',')}`,
		send: async (request) => {
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
		},
		clock,
		...routes,
	});
	running.forEach((id) => processing.addRunning(id));
	ids.forEach((id) => processing.add(id));
	const result = await processing.end(waitMs);
	const known = [...result.statuses.values()];
	return { ...result, starts, asked, waits: clock.waits, known, most };
}

describe('starting the processing of documents', () => {
	it('asks for no status when nobody waits', async () => {
		const { starts, asked, known, timedOut } = await process(['a', 'b'], [], { waitMs: undefined });
		expect(starts).toEqual([['a', 'b']]);
		expect({ asked, timedOut }).toEqual({ asked: [], timedOut: false });
		expect(known).toEqual([
			{ id: 'a', status: 'running' },
			{ id: 'b', status: 'running' },
		]);
	});

	it('sends nothing without documents', async () => {
		const { starts, asked, timedOut } = await process([], []);
		expect({ starts, asked, timedOut }).toEqual({ starts: [], asked: [], timedOut: false });
	});

	it('takes ten documents a request to start and fifty to ask, five requests at once', async () => {
		const ids = some(120);
		const { starts, asked, statuses, most } = await process(ids, [(part) => all(part, 'finish')]);
		expect(starts.map((part) => part.length)).toEqual(range(0, 12).map(() => 10));
		expect(starts.flat()).toEqual(ids);
		expect(asked.map((part) => part.length)).toEqual([50, 50, 20]);
		expect(ids.map((id) => statuses.get(id)?.status)).toEqual(ids.map(() => 'finish'));
		expect(most).toBe(5);
	});

	it('ends with the failure, and with what was started before', async () => {
		const { failure, known, timedOut, starts } = await process(some(200), [], {
			queues: (ids) => (ids.includes('10') ? answered(404) : all(ids, 'running')),
		});
		expect(failure).toMatchObject({ status: 404 });
		expect(starts.length).toBeLessThan(10);
		expect(known).toHaveLength((starts.length - 1) * 10);
		expect(timedOut).toBe(false);
	});
});

describe('documents that the server has not queued', () => {
	const queues = (ids: string[]) =>
		all(
			ids.filter((id) => id === 'a'),
			'running',
		);

	it('are asked for: those that run already are waited for, with the others', async () => {
		const { known, asked } = await process(
			['a', 'b'],
			[(ids) => all(ids, 'embedding'), (ids) => all(ids, 'finish')],
			{ queues },
		);
		expect(asked).toEqual([['b'], ['a', 'b']]);
		expect(known.map(({ id, status }) => [id, status])).toEqual([
			['a', 'finish'],
			['b', 'finish'],
		]);
	});

	it.each([
		['the server does not know it in this knowledgebase', () => succeeded([])],
		['the server did not queue it', (ids: string[]) => all(ids, null)],
	])('come out as not processed: %s', async (processMsg, status) => {
		const { statuses } = await process(['a', 'b'], [status], { queues, waitMs: undefined });
		expect(statuses.get('b')).toEqual({ id: 'b', status: 'none', processMsg });
		expect(statuses.get('a')).toMatchObject({ status: 'running' });
	});

	it.each(['finish', 'error'])('may have ended meanwhile: %s', async (status) => {
		const { statuses, asked } = await process(['b'], [(ids) => all(ids, status)], { queues });
		expect(statuses.get('b')).toMatchObject({ status });
		expect(asked).toHaveLength(1);
	});

	it('are asked for as well where the answer is no list', async () => {
		const { known } = await process(['a'], [(ids) => all(ids, 'finish')], {
			queues: () => succeeded({ ok: true }),
		});
		expect(known).toEqual([{ id: 'a', status: 'finish' }]);
	});

	it('are not known where nobody answers', async () => {
		const { failure, statuses } = await process(['b'], [() => answered(503)], { queues });
		expect(failure).toMatchObject({ status: 503 });
		expect(statuses.size).toBe(0);
	});
});

it('documents that were started before are only waited for', async () => {
	const { starts, asked, known } = await process([], [(ids) => all(ids, 'finish')], {
		running: ['r'],
	});
	expect(starts).toEqual([]);
	expect(asked).toEqual([['r']]);
	expect(known).toEqual([{ id: 'r', status: 'finish' }]);
});

it.each([
	['finish', 'finish'],
	['error', 'error'],
	['cancel', 'cancel'],
	['waiting', 'running'],
	['validate', 'running'],
	['embedding', 'running'],
	[null, 'none'],
	['none', 'none'],
])('the status %s is %s in one word', (status, word) => {
	expect(processingWord({ id: 'a', status })).toBe(word);
});

it('no status at all is none', () => expect(processingWord(undefined)).toBe('none'));

it.each<[string, unknown, string]>([
	['nothing', undefined, 'it is empty'],
	['an object', { message: 'later' }, 'it is not a list of documents'],
	['a list of something else', [{ status: 'finish' }], 'it is not a list of documents'],
	['a list with something else in it', [{ id: 'a' }, null], 'it is not a list of documents'],
])('asking where documents stand takes no answer for one that is %s', async (_, answer, reason) => {
	const send = checking(async () => ({ ok: true, status: 200, answer }));
	const routes = {
		startPath: '',
		statusPath: () => '',
		send: async (request: Request) => await send({ ...request, timeoutMs: 1 }),
		clock: virtualTime(),
	};
	const { failure, statuses } = await askStatuses(['a'], routes);
	expect(failure).toMatchObject({ kind: 'unreadable', reason });
	expect(statuses.size).toBe(0);
});

it('asking where documents stand leaves out those the server does not know', async () => {
	const routes = {
		startPath: '',
		statusPath: (ids: string[]) => `?ids=${ids.join(',')}`,
		send: async () => succeeded([{ id: 'a', status: 'finish' }]),
		clock: virtualTime(),
	};
	const { statuses } = await askStatuses(['A', 'b'], routes);
	expect([...statuses]).toEqual([['A', { id: 'A', status: 'finish' }]]);
});

describe('waiting for the processing', () => {
	it('asks again, less and less often, for those that have not ended', async () => {
		const { asked, waits, known, timedOut } = await process(
			['a', 'b', 'c'],
			[
				() => succeeded([{ id: 'a', status: 'finish', progress: 100 }]),
				() =>
					succeeded([
						{ id: 'b', status: 'error', processMsg: 'no text' },
						{ id: 'c', status: 'running' },
					]),
				(ids) => all(ids, 'embedding'),
				(ids) => all(ids, 'cancel'),
			],
		);
		expect(asked).toEqual([['a', 'b', 'c'], ['b', 'c'], ['c'], ['c']]);
		expect(waits).toEqual([2000, 3000, 4500, 6750]);
		expect(timedOut).toBe(false);
		expect(known).toEqual([
			{ id: 'a', status: 'finish', progress: 100 },
			{ id: 'b', status: 'error', processMsg: 'no text' },
			{ id: 'c', status: 'cancel' },
		]);
	});

	it('never waits longer than 15 s between two questions', async () => {
		const polls = Array.from(
			{ length: 20 },
			(_, turn) => (ids: string[]) => all(ids, turn < 19 ? 'running' : 'finish'),
		);
		const { waits } = await process(['a'], polls);
		expect(Math.max(...waits)).toBe(15_000);
	});

	it('ends at the deadline, not later, with what is known by then', async () => {
		const { waits, known, timedOut } = await process(
			['a', 'b'],
			[
				() =>
					succeeded([
						{ id: 'a', status: 'finish' },
						{ id: 'b', status: 'embedding' },
					]),
			],
			{ waitMs: 8000 },
		);
		expect(waits.reduce((sum, ms) => sum + ms, 0)).toBe(8000);
		expect(timedOut).toBe(true);
		expect(known.map(({ status }) => status)).toEqual(['finish', 'embedding']);
	});

	it('does not wait at all when no time is given', async () => {
		const { waits, asked, timedOut } = await process(['a'], [], { waitMs: 0 });
		expect({ waits, asked, timedOut }).toEqual({ waits: [], asked: [], timedOut: true });
	});

	it.each<[string, Outcome]>([
		['nothing', succeeded(undefined)],
		['an object', succeeded({ message: 'later' })],
		['a list of something else', succeeded([{ status: 'finish' }])],
		['other documents', succeeded([{ id: 'z', status: 'finish' }])],
	])('takes %s for no status', async (_, answer) => {
		const { timedOut, known } = await process(['a'], [() => answer], { waitMs: MINUTE });
		expect(timedOut).toBe(true);
		expect(known.filter(({ id }) => id === 'a')).toEqual([{ id: 'a', status: 'running' }]);
	});

	it('knows a document by its id, however the server writes it', async () => {
		const id = '2F78E81B-096F-42FF-8AC0-8403FD81392D';
		const { statuses, timedOut } = await process(
			[id],
			[() => succeeded([{ id: id.toLowerCase(), status: 'error', processMsg: 'no text' }])],
		);
		expect(timedOut).toBe(false);
		expect(statuses.get(id)).toMatchObject({ status: 'error', processMsg: 'no text' });
	});

	it('is not misled about a document by what is said of others in another shape', async () => {
		const { known, timedOut } = await process(
			['a'],
			[() => succeeded([null, { id: 5 }, { id: 'a', status: 'finish' }])],
		);
		expect(known).toEqual([{ id: 'a', status: 'finish' }]);
		expect(timedOut).toBe(false);
	});

	it('ends with the failure of a question', async () => {
		const { failure, known } = await process(['a'], [() => answered(500)]);
		expect(failure).toMatchObject({ status: 500 });
		expect(known).toEqual([{ id: 'a', status: 'running' }]);
	});

	it('asks nothing more when the execution is stopped', async () => {
		const stop = new AbortController();
		const clock = { ...virtualTime(), sleep: async () => stop.abort() };
		const { asked, timedOut } = await process(['a'], [(ids) => all(ids, 'running')], {
			clock,
			signal: stop.signal,
		});
		expect({ asked, timedOut }).toEqual({ asked: [], timedOut: true });
	});
});
