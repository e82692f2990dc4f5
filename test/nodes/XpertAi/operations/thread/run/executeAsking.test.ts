import fc from 'fast-check';
import { NodeHelpers, traverseNodeParameters } from 'n8n-workflow';
import type { FromAIArgument, INode, INodeParameters } from 'n8n-workflow';

import { XpertAi } from 'nodes/XpertAi/XpertAi.node';
import {
	executeRunIdOperation,
	type RunIdOperation,
} from 'nodes/XpertAi/operations/thread/run/executeRunIdOperation';
import {
	runInThreadQueues,
	type ThreadWork,
} from 'nodes/XpertAi/operations/thread/run/threadQueues';
import { runByIdFields } from 'nodes/XpertAi/operations/thread/run/fields';
import { withDeadline } from 'nodes/XpertAi/runs/client';
import { type QueueTurn, enqueueTurn, waitForTurn } from 'nodes/XpertAi/runs/turns';
import { itemOf, unconnected } from 'test/nodes/support/context';
import { no, parsing, success } from 'test/nodes/support/send';
import { virtualTime } from 'test/nodes/support/virtualTime';

import { failure, listed, mine } from '../../../threads/support/answering';

const RUN_ID = 'd0000000-0000-4000-8000-000000000001';
const THREAD_ID = 'd0000000-0000-4000-8000-000000000002';

const RECORD = {
	run_id: RUN_ID,
	thread_id: THREAD_ID,
	assistant_id: 'a',
	status: 'success',
	created_at: '1',
};

/** What an operation says of a run that has ended, where the first request to a path is answered otherwise. */
async function said(operation: RunIdOperation, failingPath: string, failing: object) {
	let isFirst = true;
	const send = parsing(({ path, stream }) => {
		if (isFirst && path.endsWith(failingPath)) {
			isFirst = false;
			return no({ ...failure, ...failing });
		}
		stream?.onEvent({ id: '1', data: '{"type":"event","event":"on_conversation_start"}' });
		stream?.onEvent({ id: '2', data: '{"type":"message","data":{"type":"text","text":"Said"}}' });
		stream?.onEvent({ id: '3', data: '{"type":"complete"}' });
		if (stream) return success('');
		if (path === '/conversations/search') return listed(mine('c', undefined, THREAD_ID));
		if (path.endsWith('/messages/search'))
			return success({ items: [{ role: 'ai', content: 'Said', executionId: RUN_ID }] });
		return success(path.endsWith('/runs') ? [RECORD] : RECORD);
	});
	const item = itemOf(
		{ threadId: THREAD_ID, runId: RUN_ID, simplify: true },
		{
			fields: runByIdFields,
			connection: { ...unconnected, send },
			methods: {
				addExecutionHints: () => undefined,
				continueOnFail: () => false,
				getExecutionCancelSignal: () => undefined,
				getParentNodes: () => [],
			},
		},
	);
	return await executeRunIdOperation({ context: item.context, items: [item] }, operation);
}

const ANSWERED = [{ json: { output: 'Said', status: 'completed' } }];

it.each([500, 403])(
	'a run whose record was read is waited for although its conversation is not shown (%i)',
	async (status) => {
		expect(await said('waitForRun', '/conversations/search', { status })).toMatchObject(ANSWERED);
	},
);

/** Work that takes so many turns of the event loop, on a thread or on its own. */
interface Piece {
	thread?: string;
	turns: number;
}

/** What was observed of the pieces. */
interface Observed {
	results: Array<number | undefined>;
	started: number[];
	mostAtOnce: number;
	/** Pairs of pieces of one thread that were under way at the same time. */
	overlaps: number;
}

async function observe(
	pieces: Piece[],
	concurrency: number,
	goOn: (started: number[]) => boolean = () => true,
): Promise<Observed> {
	const started: number[] = [];
	const underWay = new Set<number>();
	let [mostAtOnce, overlaps] = [0, 0];
	const work = pieces.map(
		({ thread, turns }, index): ThreadWork<number> => ({
			threadId: thread,
			run: async () => {
				const beside = [...underWay].filter((other) => pieces[other]?.thread === thread);
				if (thread !== undefined) overlaps += beside.length;
				started.push(index);
				underWay.add(index);
				mostAtOnce = Math.max(mostAtOnce, underWay.size);
				for (let turn = 0; turn < turns; turn++) await Promise.resolve();
				underWay.delete(index);
				return index;
			},
		}),
	);
	const results = await runInThreadQueues(work, concurrency, () => goOn(started));
	return { results, started, mostAtOnce, overlaps };
}

const anyPieces = fc.array(
	fc.record({
		thread: fc.option(fc.constantFrom('a', 'b', 'c', 'new 0', '__proto__'), { nil: undefined }),
		turns: fc.nat(20),
	}),
	{ maxLength: 25 },
);
const anyConcurrency = fc.integer({ min: 1, max: 8 });

it('all work is done once, on each thread in order and without overlap; results keep the order', async () => {
	await fc.assert(
		fc.asyncProperty(anyPieces, anyConcurrency, async (pieces, concurrency) => {
			const { results, started, overlaps } = await observe(pieces, concurrency);
			expect(overlaps).toBe(0);
			expect(results).toEqual(pieces.map((_, index) => index));
			expect(started).toHaveLength(pieces.length);
			for (const thread of ['a', 'b', 'c', 'new 0', '__proto__']) {
				const order = started.filter((index) => pieces[index]?.thread === thread);
				expect(order).toEqual([...order].sort((a, b) => a - b));
			}
		}),
	);
});

it('no more threads run at once than asked for, and as many as that', async () => {
	await fc.assert(
		fc.asyncProperty(fc.integer({ min: 1, max: 20 }), anyConcurrency, async (threads, limit) => {
			const pieces = Array.from({ length: threads }, (_, n) => ({ thread: `t${n}`, turns: 5 }));
			const { mostAtOnce } = await observe(pieces, limit);
			expect(mostAtOnce).toBe(Math.min(threads, limit));
		}),
	);
});

it('work without a thread is on its own', async () => {
	const { mostAtOnce } = await observe(
		Array.from({ length: 4 }, () => ({ turns: 3 })),
		4,
	);
	expect(mostAtOnce).toBe(4);
});

it('a thread that waits for its turn does not hold up the others', async () => {
	const pieces = [
		{ thread: 'a', turns: 50 },
		{ thread: 'a', turns: 1 },
		{ thread: 'b', turns: 1 },
		{ thread: 'b', turns: 1 },
	];
	const { started } = await observe(pieces, 2);
	expect(started).toEqual([0, 2, 3, 1]);
});

it('nothing more is started once the work is not to go on', async () => {
	const pieces = ['a', 'b', 'a', 'c', 'd'].map((thread) => ({ thread, turns: 2 }));
	const { results, started } = await observe(pieces, 2, (so) => so.length < 3);
	expect(started).toHaveLength(3);
	expect(results.filter((result) => result !== undefined).sort()).toEqual([...started].sort());
	expect(results).toHaveLength(5);
	const onOne = ['a', 'a'].map((thread) => ({ thread, turns: 2 }));
	expect((await observe(onOne, 1, (so) => so.length < 1)).started).toEqual([0]);
});

describe('work of several calls, as executions of one process make them', () => {
	/** Calls that come one after another without waiting for each other, each with its pieces. */
	async function observeCalls(calls: Piece[][], concurrency: number) {
		const started: Array<{ call: number; thread?: string }> = [];
		const underWay: Array<string | undefined> = [];
		let overlaps = 0;
		const results = calls.map(async (pieces, call) => {
			const work = pieces.map(({ thread, turns }) => ({
				threadId: thread,
				run: async (turn?: QueueTurn) => {
					await turn?.untilReached;
					if (thread !== undefined && underWay.includes(thread)) overlaps += 1;
					started.push({ call, thread });
					underWay.push(thread);
					for (let passed = 0; passed < turns; passed++) await Promise.resolve();
					underWay.splice(underWay.indexOf(thread), 1);
					return call;
				},
			}));
			return await runInThreadQueues(work, concurrency, () => true);
		});
		return { results: await Promise.all(results), started, overlaps };
	}

	it('runs on each thread in the order of the calls, never overlaps, and leaves nothing behind', async () => {
		const anyCalls = fc.array(anyPieces, { maxLength: 6 });
		await fc.assert(
			fc.asyncProperty(anyCalls, anyConcurrency, async (calls, concurrency) => {
				const { results, started, overlaps } = await observeCalls(calls, concurrency);
				expect(overlaps).toBe(0);
				expect(results.map(({ length }) => length)).toEqual(calls.map(({ length }) => length));
				for (const thread of ['a', 'b', 'c', 'new 0', '__proto__']) {
					const order = started.flatMap((one) => (one.thread === thread ? one.call : []));
					expect(order).toEqual([...order].sort((a, b) => a - b));
					const next = enqueueTurn(thread);
					expect(next.isReached).toBe(true);
					next.end();
				}
			}),
		);
	});

	it('goes on when a call ends before its turn has come, or fails', async () => {
		const first = enqueueTurn('t');
		const failing = runInThreadQueues(
			[{ threadId: 't', run: async () => await Promise.reject(new Error('no')) }],
			1,
			() => true,
		);
		await expect(failing).rejects.toThrow('no');
		await runInThreadQueues([{ threadId: 't', run: async () => 1 }], 1, () => false);
		const last = enqueueTurn('t');
		await flush();
		expect(last.isReached).toBe(false);
		first.end();
		await last.untilReached;
		expect(last.isReached).toBe(true);
		last.end();
		await flush();
		expect(takenAtOnce('t')).toBe(true);
	});
});

it('a turn that ends leaves its place to the next, behind whom others wait', async () => {
	const [first, second] = [enqueueTurn('t'), enqueueTurn('t')];
	first.end();
	await second.untilReached;
	await flush();
	const third = enqueueTurn('t');
	expect(third.isReached).toBe(false);
	second.end();
	third.end();
	await flush();
	expect(takenAtOnce('t')).toBe(true);
	await flush();
});

/** Lets all that has only to be told go its way. */
async function flush(): Promise<void> {
	await new Promise((resolve) => setImmediate(resolve));
}

function takenAtOnce(threadId: string): boolean {
	const turn = enqueueTurn(threadId);
	turn.end();
	return turn.isReached;
}

describe('waiting for a turn', () => {
	const MINUTE = 60_000;
	const send = async () => await Promise.reject(new Error('nothing is to be sent'));

	/** A turn behind another, waited for so long. */
	function behind(stopAfterMs?: number) {
		const first = enqueueTurn('t');
		const turn = enqueueTurn('t');
		const clock = virtualTime(stopAfterMs);
		const limits = { send, clock, signal: clock.signal, deadline: clock.now() + MINUTE };
		const through = async () => {
			first.end();
			turn.end();
			await flush();
		};
		return { first, turn, clock, inTime: withDeadline(limits), through };
	}

	it('is over when those before it are through', async () => {
		const { first, turn, clock, inTime, through } = behind();
		let [slept, isOver] = [0, false];
		const patient = {
			...clock,
			sleep: async (ms: number, signal?: AbortSignal) => {
				slept = ms;
				await new Promise((resolve) => signal?.addEventListener('abort', resolve));
				isOver = true;
			},
		};
		const waited = waitForTurn(turn, { ...inTime, clock: patient }, 'wait');
		first.end();
		expect(await waited).toBeUndefined();
		expect(slept).toBe(MINUTE);
		await flush();
		// Its timer does not outlive it.
		expect(isOver).toBe(true);
		await through();
	});

	const still = 'Another run was still active on the thread when the deadline came';
	const active = 'Another run is active on this thread';

	it.each([
		['its deadline', 'wait', { status: 'timedOut', reason: still }, MINUTE],
		['a stop of the execution', 'wait', { status: 'cancelled' }, 2_000],
		['a report that the thread is busy', 'fail', { reason: active }, 0],
		['a run all the same', 'run', undefined, 0],
	] as const)('is over with %s', async (what, whenBusy, result, ms) => {
		const { turn, clock, inTime, through } = behind(what.includes('stop') ? ms : undefined);
		const verdict = await waitForTurn(turn, inTime, whenBusy);
		if (result) expect(verdict).toMatchObject(result);
		else expect(verdict).toBeUndefined();
		expect(clock.elapsed()).toBe(ms);
		await through();
	});

	it('takes no time where nobody is before it', async () => {
		const turn = enqueueTurn('u');
		const clock = virtualTime();
		const inTime = withDeadline({ send, clock, signal: clock.signal, deadline: clock.now() });
		for (const whenBusy of ['wait', 'fail', 'run'] as const)
			expect(await waitForTurn(turn, inTime, whenBusy)).toBeUndefined();
		turn.end();
		await flush();
	});
});

const { description } = new XpertAi();

/** A node as somebody has just added it, and chosen an assistant, with the parameters n8n gives it. */
function added(name: string, chosen: INodeParameters = {}) {
	const type = { ...description, name };
	const given: INodeParameters = {
		resource: 'thread',
		operation: 'run',
		assistantId: { __rl: true, mode: 'id', value: 'd0000000-0000-4000-8000-000000000001' },
		...chosen,
	};
	const node = { typeVersion: 1, type: name, name: 'Ask', parameters: given } as unknown as INode;
	const { properties } = type;
	const parameters =
		NodeHelpers.getNodeParameters(properties, given, true, false, node, type) ?? {};
	const issues = NodeHelpers.getNodeParametersIssues(properties, { ...node, parameters }, type);
	return { parameters, issues: issues?.parameters ?? {} };
}

/** What n8n asks the model for. */
function askedOfModel(parameters: INodeParameters): FromAIArgument[] {
	const found: FromAIArgument[] = [];
	traverseNodeParameters(parameters, found);
	return found;
}

describe('Ask and Wait as a tool of an AI agent', () => {
	it('needs nothing but the assistant: the model writes the message', () => {
		const { parameters, issues } = added('xpertAiTool');
		expect(issues).toEqual({});
		// A tool is not behind a chat.
		expect([parameters.threadSource, added('xpertAi').parameters.threadSource]).toEqual([
			'new',
			'auto',
		]);
		expect(askedOfModel(parameters)).toEqual([
			{ key: 'Message', description: 'What to say to the assistant', type: 'string' },
		]);
	});

	it('lets the author have the key chosen, too', () => {
		const conversationKey = "={{ $fromAI('key', 'Whom it is about', 'string') }}";
		const { parameters, issues } = added('xpertAiTool', { threadSource: 'key', conversationKey });
		expect(issues).toEqual({});
		expect(askedOfModel(parameters).map(({ key }) => key)).toEqual(['Message', 'key']);
	});

	it('keeps the message that the author writes', () => {
		const { parameters } = added('xpertAiTool', { message: 'How are things?' });
		expect(parameters.message).toBe('How are things?');
		expect(askedOfModel(parameters)).toEqual([]);
	});

	it.each<[string, INodeParameters]>([
		['Message', { message: '' }],
		['Conversation Key', { threadSource: 'key', conversationKey: '' }],
		['Thread', { threadSource: 'existing' }],
	])('is a node that asks for %s elsewhere', (label, chosen) => {
		const { issues } = added('xpertAi', chosen);
		expect(Object.values(issues).flat()).toEqual([`Parameter "${label}" is required.`]);
	});
});
