import { processDocuments } from '../../../../nodes/XpertAi/ingest/processing';
import type { Processing } from '../../../../nodes/XpertAi/ingest/processing';
import type { ApiRequest, Outcome } from '../../../../nodes/XpertAi/transport/request';
import { virtualTime } from '../../support/virtualTime';
import { answered, succeeded } from './support/outcomes';

const MINUTE = 60_000;
type Request = Omit<ApiRequest, 'timeoutMs'>;

const idsOf = ({ path }: Request) => (path.split('?ids=')[1] ?? '').split(',');
const all = (ids: string[], status: string) => succeeded(ids.map((id) => ({ id, status })));

/** Processes documents on a server whose status answers are given; starting them goes well. */
async function process(
	ids: string[],
	polls: Array<(ids: string[]) => Outcome>,
	changes: Partial<Processing> = {},
) {
	const clock = virtualTime();
	const starts: Request[] = [];
	const asked: string[][] = [];
	const result = await processDocuments({
		ids,
		startPath: '/knowledges/1/process',
		statusPath: (some) => `/knowledges/1/status?ids=${some.join(',')}`,
		send: async (request) => {
			if (request.method === 'POST') {
				starts.push(request);
				return succeeded();
			}
			const poll = polls[Math.min(asked.length, polls.length - 1)];
			asked.push(idsOf(request));
			return poll ? poll(idsOf(request)) : succeeded();
		},
		waitMs: 10 * MINUTE,
		clock,
		...changes,
	});
	return { ...result, starts, asked, waits: clock.waits, known: [...result.statuses.values()] };
}

describe('starting the processing of documents', () => {
	it('asks for no status when nobody waits', async () => {
		const { starts, asked, known, timedOut } = await process(['a', 'b'], [], { waitMs: undefined });
		expect(starts).toEqual([{ method: 'POST', path: '/knowledges/1/process', body: '["a","b"]' }]);
		expect({ asked, timedOut }).toEqual({ asked: [], timedOut: false });
		expect(known).toEqual([
			{ id: 'a', status: 'waiting' },
			{ id: 'b', status: 'waiting' },
		]);
	});

	it('sends nothing without documents', async () => {
		const { starts, asked, timedOut } = await process([], []);
		expect({ starts, asked, timedOut }).toEqual({ starts: [], asked: [], timedOut: false });
	});

	it('takes fifty documents a request, both to start and to ask', async () => {
		const ids = Array.from({ length: 120 }, (_, index) => `${index}`);
		const { starts, asked, known } = await process(ids, [(some) => all(some, 'finish')]);
		expect(starts.map(({ body }) => (JSON.parse(String(body)) as string[]).length)).toEqual([
			50, 50, 20,
		]);
		expect(asked.map((some) => some.length)).toEqual([50, 50, 20]);
		expect(known.map(({ id, status }) => [id, status])).toEqual(ids.map((id) => [id, 'finish']));
	});

	it('ends with the failure, and with what was started before', async () => {
		let sent = 0;
		const ids = Array.from({ length: 60 }, (_, index) => `${index}`);
		const { failure, known, timedOut } = await process(ids, [], {
			send: async () => (++sent === 2 ? answered(404) : succeeded()),
		});
		expect(failure).toMatchObject({ status: 404 });
		expect(known).toHaveLength(50);
		expect({ sent, timedOut }).toEqual({ sent: 2, timedOut: false });
	});
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
		expect(known.filter(({ id }) => id === 'a')).toEqual([{ id: 'a', status: 'waiting' }]);
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
		expect(known).toEqual([{ id: 'a', status: 'waiting' }]);
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
