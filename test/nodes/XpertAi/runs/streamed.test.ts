import {
	brokenStream,
	drop,
	endedStream,
	endlessStream,
	gateway,
	noRoute,
	refusal,
	silentStream,
	wrongBody,
} from './support/faults';
import type { Fault } from './support/faults';
import { ANSWER, CANCELLED, QUESTION, REASON, THREAD } from './support/modelServer';
import type { World } from './support/modelServer';
import { MINUTE, SECOND, run } from './support/run';
import type { Course, Settings } from './support/run';
import type { Send } from '../../../../nodes/XpertAi/transport/request';

/** A run of a minute on a thread of its own, which is heard. */
const heard = (world: World = {}, settings: Settings = {}): Promise<Course> =>
	run({ isHeard: true, runMs: MINUTE, ...world }, { isNew: true, ...settings });

/** The requests that hear a run which was begun before. */
const joinsOf = ({ server }: Course) =>
	server.of('stream').filter(({ method }) => method === 'GET');

const TAKEN_FROM_THREAD = { status: 'completed', output: ANSWER, recovered: true };

describe('a run that is heard', () => {
	it('has its answer in pieces, in one request', async () => {
		const course = await heard();
		expect(course.heard).toEqual(['our ', 'answer']);
		expect(course.verdict).toMatchObject({ status: 'completed', output: ANSWER, recovered: false });
		expect(course.verdict.answer).toEqual({ role: 'ai', content: ANSWER });
		expect(course.server.seen.map(({ endpoint }) => endpoint)).toEqual(['stream', 'E15']);
	});

	it('is over for its listener where it fails after its first words', async () => {
		const { verdict, heard: words } = await heard({ outcome: 'fail' });
		expect(words).toEqual(['our ']);
		expect(verdict).toMatchObject({ status: 'failed', reason: `The run failed: ${REASON}` });
	});

	it.each([
		['fail', `The run failed: ${REASON}`],
		['cancel', `The run was cancelled on the server: ${CANCELLED}`],
	] as const)(
		'tells itself how it has ended (%s), also where another has since',
		async (outcome, reason) => {
			const bert = { text: 'a question of Bert', fromMs: MINUTE, runMs: 0 };
			for (const earlier of ['idle', undefined] as const) {
				const { verdict } = await heard({ outcome, bert, earlier }, { isNew: false });
				expect(verdict).toMatchObject({ status: 'failed', reason });
			}
		},
	);

	it('is none where a decision is sent, of which nothing is to be heard before it was carried out', async () => {
		const course = await heard({ kind: 'decision', earlier: 'interrupted' }, { isNew: false });
		expect(course.verdict).toMatchObject({ status: 'completed', output: ANSWER });
		expect(course.server.of('stream')).toEqual([]);
	});

	it('is waited for where the server says twice that it has no streams', async () => {
		const course = await heard({ streams: [noRoute, noRoute] });
		expect(course.verdict).toMatchObject({ status: 'completed', output: ANSWER, recovered: false });
		expect(course.server.begun().map(({ endpoint }) => endpoint)).toEqual([
			'stream',
			'stream',
			'E4',
		]);
	});
});

describe('a stream', () => {
	const BREAKS = [
		['is cut off', brokenStream],
		['ends without saying that it is complete', endedStream],
		['falls silent', silentStream],
	] as const;

	it.each(BREAKS)('that %s is joined behind what was heard', async (_, broken) => {
		for (const events of [2, 3, 4, 5, 6]) {
			const course = await heard({ streams: [broken(events)] });
			expect(course.heard.join('')).toBe(ANSWER);
			expect(course.verdict).toMatchObject({ output: ANSWER, recovered: false });
			expect(joinsOf(course)).toEqual([
				expect.objectContaining({ stream: expect.objectContaining({ after: `0-${events - 1}` }) }),
			]);
			expect(course.server.arrivals).toEqual([0]);
		}
	});

	it.each(BREAKS)(
		'that %s before the number of its run came cannot be joined',
		async (_, broken) => {
			for (const events of [0, 1]) {
				const course = await heard({ streams: [broken(events)] });
				expect(course.verdict).toMatchObject(TAKEN_FROM_THREAD);
				expect(course.heard).toEqual([]);
				expect(joinsOf(course)).toEqual([]);
				expect(course.server.arrivals).toEqual([0]);
			}
		},
	);

	it('that falls silent is given up after 75 s: servers say every 30 s that they are there', async () => {
		const course = await heard({ runMs: 10 * MINUTE, streams: [silentStream(3)] });
		expect(joinsOf(course).map(({ at }) => at)).toEqual([77 * SECOND]);
	});

	it('is joined less and less often while that is in vain', async () => {
		const streams = [brokenStream(3), gateway(502, false, 0), brokenStream(0), drop(false)];
		const course = await heard({ streams });
		expect(joinsOf(course).map(({ at }) => at / SECOND)).toEqual([2, 5, 9.5, 16.25]);
		expect(course.heard.join('')).toBe(ANSWER);
	});

	it('that is complete without a word, also on how its run has ended, leaves that to the thread', async () => {
		const messages = [{ content: QUESTION }, { content: ANSWER, tool_calls: [] }];
		const thread = { thread_id: THREAD, status: 'idle', values: { messages } };
		const send: Send = async ({ stream }) => {
			stream?.hear({ data: '{"type":"complete"}' });
			return await Promise.resolve({ ok: true, status: 200, answer: thread });
		};
		expect((await heard({}, { send })).verdict).toMatchObject(TAKEN_FROM_THREAD);
	});

	it('that may not be joined is left, and the answer taken from the thread', async () => {
		const course = await heard({ streams: [brokenStream(4), refusal(403)] });
		expect(course.verdict).toMatchObject(TAKEN_FROM_THREAD);
		expect(course.heard).toEqual(['our ']);
		expect(joinsOf(course)).toHaveLength(1);
	});

	it('that goes on without an end is left at the deadline, and the thread has the answer', async () => {
		for (const events of [0, 3, 6]) {
			const course = await heard({ streams: [endlessStream(events)] });
			expect(course.verdict).toMatchObject(TAKEN_FROM_THREAD);
			expect(ANSWER.startsWith(course.heard.join(''))).toBe(true);
			expect(course.tookMs).toBe(15 * MINUTE);
		}
	});

	it('is heard until the deadline and no longer', async () => {
		const course = await heard({}, { deadlineMs: 30 * SECOND });
		expect(course.heard).toEqual(['our ']);
		expect(course.verdict).toMatchObject({
			status: 'timedOut',
			reason: 'The run was still going on when the deadline came',
			failure: { path: '/api/ai/threads/t1/runs/stream' },
		});
		expect(course.tookMs).toBe(30 * SECOND);
	});

	it.each([
		['no body at all', wrongBody('', true)],
		['a page of somebody else', wrongBody('<html><title>Welcome</title></html>', true)],
		['JSON of somebody else', wrongBody({ success: false }, true)],
	] satisfies Array<[string, Fault]>)('is none with %s in its place', async (_, answer) => {
		const course = await heard({ streams: [answer] });
		expect(course.verdict).toMatchObject(TAKEN_FROM_THREAD);
		expect(course.server.begun()).toHaveLength(1);
	});
});

describe('Stop while a run is heard', () => {
	it.each([0, 1, 20 * SECOND, 40 * SECOND, MINUTE])(
		'ends it at once, and nothing is sent after it (after %i ms)',
		async (stopAfterMs) => {
			const course = await heard({}, { stopAfterMs });
			expect(course.verdict.status).toBe('cancelled');
			expect(course.tookMs).toBe(stopAfterMs);
			expect(course.server.sentAfterStop).toBe(0);
			expect(joinsOf(course)).toEqual([]);
		},
	);

	it('ends the wait before a stream is joined', async () => {
		const course = await heard({ streams: [brokenStream(3)] }, { stopAfterMs: SECOND });
		expect(course.verdict.status).toBe('cancelled');
		expect(course.server.seen.map(({ endpoint }) => endpoint)).toEqual(['stream']);
	});
});
