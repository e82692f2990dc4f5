import { setImmediate as nextTurn } from 'node:timers/promises';

import { findLast, get } from 'lodash';

import { runAndWait } from '../../../../nodes/XpertAi/runs/runAndWait';
import type { Listener } from '../../../../nodes/XpertAi/threads/events';
import type { ApiRequest, Outcome, Send } from '../../../../nodes/XpertAi/transport/request';
import { sequence } from '../../../sandbox/support/recordings';
import type { SequenceExchange } from '../../../sandbox/support/recordings';
import { virtualTime } from '../../support/virtualTime';
import { listed, lost, no, success } from '../threads/support/answering';
import { checked, fail } from './support/faults';
import { LIST, ONE_RUN, READ, RUN, SAID, SEARCH, START, serving, telling } from './support/routes';
import { saying, UNNUMBERED } from './support/run';

/** What a real server answered while two runs met on one thread. */
const OLDER_ENDED = 'the older ends while the younger is cancelled';
const NOBODY_GAVE_WAY = 'nobody gives way, one says it was interrupted';

const recorded = (name: string): SequenceExchange[] =>
	sequence('turns').filter((one) => one.sequence === name);

/** Where the recording has what the run of A meets, and what is to be otherwise. */
interface Labels {
	begun: string;
	listed: string;
	after: string;
	run?: { status: string };
	thread?: { status: string; values?: object };
}

/** The answers that the run of A meets, in the end, as they were recorded. */
function heardByA(name: string, labels: Labels) {
	const exchanges = recorded(name);
	const labelled = (label: string, of = '') =>
		get(
			findLast(exchanges, (one) => one.label.startsWith(of) && one.label.includes(label)),
			'response.body',
		) as unknown;
	const begun = labelled(labels.begun) as { run_id: string; thread_id: string };
	const thread = labelled(labels.after, 'thread') as { values: { messages: unknown[] } };
	const before = {
		...thread,
		status: 'idle',
		updated_at: 'before',
		values: { messages: thread.values.messages.slice(0, 2), input: 'zeroth' },
	};
	let isBegun = false;
	const answerTo = ({ method, path }: ApiRequest): unknown => {
		if (path.endsWith('/runs') && method === 'POST') {
			isBegun = true;
			return begun;
		}
		if (path.endsWith('/runs')) return isBegun ? labelled(labels.listed) : [];
		if (path.endsWith('/messages')) return labelled(labels.after, 'messages');
		if (path === '/conversations/search') return labelled(labels.after, 'conversation');
		if (path.endsWith(`/runs/${begun.run_id}`))
			return { ...(labelled("A's run as it was polled") as object), ...labels.run };
		return isBegun ? { ...thread, ...labels.thread } : before;
	};
	const send = async (request: ApiRequest): Promise<Outcome> => {
		await Promise.resolve();
		if (request.stream) return fail(request, { kind: 'status', status: 400 });
		return checked(request, { ok: true, status: 200, answer: answerTo(request) });
	};
	return { send, begun };
}

async function runOfA(name: string, question: string, labels: Labels) {
	const { send, begun } = heardByA(name, labels);
	const time = virtualTime();
	return await runAndWait({
		// Nothing can stop it, as where n8n gives no signal.
		...{ send, clock: time, threadId: begun.thread_id },
		...{ body: { ...saying(question), assistant_id: 'a' }, isNew: false, whenBusy: 'wait' },
		...{ ...UNNUMBERED, numbers: { areMissing: false }, takesTurns: true },
		deadline: time.now() + 600_000,
	});
}

describe('a run that was begun in turn, on a recorded server', () => {
	it('is completed where it is marked as cancelled and its answer is on the thread', async () => {
		const verdict = await runOfA(OLDER_ENDED, 'SLOW1 A1x', {
			begun: 'A starts in the background',
			listed: 'as B sees it, start no. 2',
			after: 'as soon as nothing runs',
		});
		expect(verdict).toMatchObject({ status: 'completed', recovered: false });
		expect(verdict.output).toContain('You said: SLOW1 A1x');
		expect(verdict.messages).toHaveLength(1);
	});

	it('has failed where it is marked so and its answer is nowhere', async () => {
		const verdict = await runOfA(NOBODY_GAVE_WAY, 'SLOW4000 A8x', {
			begun: 'A starts in the background',
			listed: 'list, in the end',
			after: 'in the end',
		});
		expect(verdict.status).toBe('failed');
		expect(verdict.reason).toContain('The run was cancelled');
	});

	it('has failed where it is marked so and the thread holds its question with nothing said to it', async () => {
		const silence = { content: '', tool_calls: [] };
		const before = [{ content: 'zeroth' }, { content: 'You said it', tool_calls: [] }];
		const messages = [...before, { content: 'SLOW1 A1x' }, silence];
		const verdict = await runOfA(OLDER_ENDED, 'SLOW1 A1x', {
			begun: 'A starts in the background',
			listed: 'as B sees it, start no. 2',
			after: 'as soon as nothing runs',
			thread: { status: 'idle', values: { messages } },
		});
		expect(verdict.status).toBe('failed');
	});

	it('is not remembered where others came after it and its messages are not on the thread', async () => {
		const after = {
			begun: 'A starts in the background',
			listed: 'list, in the end',
			after: 'in the end',
		};
		const lost = await runOfA(NOBODY_GAVE_WAY, 'SLOW4000 A8x', {
			...after,
			run: { status: 'success' },
		});
		expect(lost).toMatchObject({ status: 'completed', remembered: false });
		const busy = { ...after, run: { status: 'success' }, thread: { status: 'busy' } };
		const unknown = await runOfA(NOBODY_GAVE_WAY, 'SLOW4000 A8x', busy);
		expect(unknown.status).toBe('completed');
		expect(unknown.remembered).toBeUndefined();
	});
});

describe('a run that was begun in turn, and its stream', () => {
	const EVENTS = [
		{ type: 'event', event: 'on_agent_start', data: { agentKey: 'a' } },
		{ type: 'message', data: { type: 'text', id: 'm', text: 'Ho', agentKey: 'a' } },
		{ type: 'complete' },
	];
	const person = (content: string) => ({ content });
	const thread = (...messages: object[]) =>
		success({ thread_id: 't', status: 'idle', values: { messages } });

	/** A run that has ended at the fourth look. */
	async function inTurn(isTold: boolean, listener?: Listener) {
		const goesOn = success(RUN);
		const { asking, names, time } = serving({
			[READ]: [thread(), thread(person('Hi'), { content: 'Ho', tool_calls: [] })],
			[LIST]: [telling(), telling({}), telling({ status: 'success' })],
			...{ [START]: [goesOn], [SEARCH]: [listed({ id: 'c', threadId: 't', status: 'idle' })] },
			[ONE_RUN]: [goesOn, goesOn, goesOn, success({ ...RUN, status: 'success' })],
			[SAID]: [success({ items: [{ role: 'ai', executionId: 'r', content: 'Ho' }] })],
		});
		const send: Send = async (request) => {
			if (!request.stream) return await asking.send(request);
			await nextTurn();
			if (!isTold) return no(lost);
			for (const event of EVENTS) request.stream.hear({ data: JSON.stringify(event) });
			return success('');
		};
		const sleep: typeof time.sleep = async (ms, signal) => {
			await nextTurn();
			await time.sleep(ms, signal);
		};
		const verdict = await runAndWait({
			...{ ...UNNUMBERED, ...asking, send, clock: { ...time, sleep }, threadId: 't' },
			...{ body: { ...saying('Hi'), assistant_id: 'a' }, isNew: false, whenBusy: 'wait' },
			...{ numbers: { areMissing: false }, takesTurns: true, listener },
			deadline: time.now() + 600_000,
		});
		expect(verdict).toMatchObject({ status: 'completed', output: 'Ho' });
		return { tookMs: time.elapsed(), reads: names().filter((one) => one === READ) };
	}

	it('is looked at soon once that has ended, whether anybody hears it or not', async () => {
		const heard: string[] = [];
		const listener = { onText: (text: string) => heard.push(text), onFound: () => undefined };
		for (const whoHears of [undefined, listener]) {
			const { tookMs, reads } = await inTurn(true, whoHears);
			expect(tookMs).toBe(300 + 450);
			expect(reads).toHaveLength(2);
		}
		expect(heard).toEqual(['Ho']);
	});

	it('is over with the run where that cannot be heard', async () => {
		const { tookMs } = await inTurn(false);
		expect(tookMs).toBeLessThan(60_000);
	});
});
