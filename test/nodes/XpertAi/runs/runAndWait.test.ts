import { runAndWait } from '../../../../nodes/XpertAi/runs/runAndWait';
import type { Run } from '../../../../nodes/XpertAi/runs/run';
import type { Outcome } from '../../../../nodes/XpertAi/transport/request';
import { failure, listed, lost, no, success } from '../threads/support/answering';
import { BODIES, UNNUMBERED, saying } from './support/run';
import {
	CANCEL,
	CONVERSATION,
	JOIN,
	LIST,
	NO_ROUTE,
	ONE_RUN,
	READ,
	RUN,
	SAID,
	SEARCH,
	START,
	serving,
	telling,
} from './support/routes';
import type { Routes } from './support/routes';

const SECOND = 1000;
const WAIT = 'POST /threads/t/runs/wait';

const person = (content: string) => ({ content });
const assistant = (content: string, tool_calls: unknown[] = []) => ({ content, tool_calls });
const EARLIER = [person('p'), assistant('an older answer')];

/** The thread at a moment before the run of the number `r`, or after it. */
const thread = (messages: object[], status = 'idle', more: object = {}): Outcome =>
	success({
		...{ thread_id: 't', status, updated_at: '2026-11-22T09:00:00.000Z' },
		...{ metadata: { id: 'c', assistant_id: 'of the thread' }, values: { messages, ...more } },
	});
const before = thread(EARLIER);
const after = thread([...EARLIER, person('Hi'), assistant('Ho')]);
const conversation = (more: object = {}) =>
	listed({ id: 'c', threadId: 't', status: 'idle', ...more });

/** A server that numbers its runs; this one has ended well. */
const NUMBERED: Routes = {
	[READ]: [before, after],
	[SEARCH]: [conversation()],
	[LIST]: [telling({ status: 'success' })],
	[ONE_RUN]: [success({ ...RUN, status: 'success' })],
	[SAID]: [success({ items: [{ role: 'ai', executionId: 'r', content: 'Ho' }] })],
	[CANCEL]: [success({ canceledExecutionIds: ['r'] })],
	[WAIT]: [success({ role: 'ai', content: 'Ho' })],
};

async function run(routes: Routes, more: Partial<Run> = {}) {
	const { asking, asked, names, time } = serving({ ...NUMBERED, ...routes });
	const verdict = await runAndWait({
		...{ ...UNNUMBERED, ...asking, numbers: { areMissing: false } },
		...{ threadId: 't', body: { ...saying('Hi'), assistant_id: 'a' } },
		...{ isNew: false, whenBusy: 'wait', deadline: time.now() + 60 * SECOND, ...more },
	});
	const sent = asked.find(({ method, path }) => `${method} ${path}` === WAIT);
	return {
		verdict,
		names: names(),
		time,
		body: sent && (JSON.parse(String(sent.body)) as unknown),
	};
}

describe('a run on a server that numbers runs', () => {
	it('comes out with its number, who answered in which conversation, and all its messages', async () => {
		const { verdict } = await run({});
		expect(verdict).toMatchObject({
			...{ status: 'completed', output: 'Ho', runId: 'r', conversationId: 'c', assistantId: 'a' },
			...{ messages: [assistant('Ho')] },
		});
	});

	it('is followed by its number where its wait breaks on a thread of its own', async () => {
		const routes = { [WAIT]: [no(lost)], [READ]: [after] };
		const { verdict } = await run(routes, { isNew: true });
		expect(verdict).toMatchObject({
			...{ status: 'completed', output: 'Ho', recovered: true, runId: 'r' },
		});
	});

	it('has a failure of the following told, not that its wait broke', async () => {
		const forbidden = { ...failure, status: 403 };
		const routes = { [WAIT]: [no(lost)], [ONE_RUN]: [no(forbidden)] };
		const { verdict } = await run(routes, { isNew: true });
		expect(verdict).toMatchObject({ status: 'failed', failure: forbidden, recovered: false });
	});

	it('goes on at the deadline where its wait has broken, and says why that broke', async () => {
		const goesOn = { [WAIT]: [no(lost)], [ONE_RUN]: [success(RUN)], [LIST]: [telling({})] };
		const { verdict } = await run(goesOn, { isNew: true });
		expect(verdict).toMatchObject({ status: 'timedOut', runId: 'r' });
		expect(verdict.failure).toMatchObject(lost);
	});

	it('is followed by its thread where others may use that, and has its number all the same', async () => {
		const { verdict, names } = await run({ [WAIT]: [no(lost)] });
		expect(verdict).toMatchObject({
			...{ status: 'completed', output: 'Ho', recovered: true, runId: 'r' },
		});
		expect(names).not.toContain(ONE_RUN);
	});

	it('is followed by its thread where its number is not known', async () => {
		const { verdict, names } = await run(
			{
				[WAIT]: [no(lost)],
				[LIST]: [telling()],
				[READ]: [thread([person('Hi'), assistant('Ho')])],
			},
			{ isNew: true },
		);
		expect(verdict).toMatchObject({ status: 'completed', output: 'Ho', recovered: true });
		expect(names).not.toContain(ONE_RUN);
	});
});

describe('a run that is cancelled at the deadline', () => {
	const goesOn = {
		...{ [WAIT]: [no({ ...lost, kind: 'timeout' as const, code: undefined })] },
		...{ [ONE_RUN]: [success(RUN)], [LIST]: [telling({})] },
	};
	const late = { whenLate: 'cancel', isNew: true } as const;

	it('is its own, by its number', async () => {
		const { verdict, names } = await run(goesOn, late);
		expect(verdict).toMatchObject({ status: 'timedOut', runId: 'r' });
		expect(verdict.advice).toBe('It was cancelled on the server.');
		expect(names.filter((one) => one === CANCEL)).toHaveLength(1);
	});

	it('is none on a thread that others use, unless that says that it is ours', async () => {
		const on = (input: string) => ({
			...goesOn,
			[READ]: [before, thread(EARLIER, 'busy', { input })],
		});
		const theirs = await run(on('of Bert'), { ...late, isNew: false });
		expect(theirs.verdict.status).toBe('timedOut');
		expect(theirs.verdict.advice).toContain('others use its thread');
		expect(theirs.names).not.toContain(CANCEL);
		const ours = await run(on('Hi'), { ...late, isNew: false });
		expect(ours.verdict.advice).toBe('It was cancelled on the server.');
		const unknown = { ...on('of Bert'), [LIST]: [telling()] };
		const none = await run(unknown, { ...late, isNew: false });
		expect(none.verdict.advice).toContain('the run goes on');
	});

	it('is looked up by its number also once the execution was stopped', async () => {
		const stopped = { isNew: true, whenStopped: 'cancel', signal: AbortSignal.abort() } as const;
		const { verdict, names } = await run(goesOn, stopped);
		expect(verdict.status).toBe('cancelled');
		expect(names).toEqual([LIST, ONE_RUN, CANCEL]);
	});

	it('is none where its number is not known', async () => {
		const { verdict, names } = await run(
			{ ...goesOn, [LIST]: [telling()], [READ]: [thread(EARLIER, 'busy')] },
			late,
		);
		expect(verdict.status).toBe('timedOut');
		expect(names).not.toContain(CANCEL);
	});
});

describe('a decision on a server that numbers runs', () => {
	const waits = [...EARLIER, person('q'), assistant('', [{ id: 'call' }])];
	const { assistant_id: _, ...body } = BODIES.decision;
	const waiting = {
		[READ]: [thread(waits, 'interrupted'), thread([...waits, assistant('Done')])],
		[SEARCH]: [conversation({ status: 'interrupted', operation: { tasks: [{ id: 'task' }] } })],
		[LIST]: [telling({ status: 'interrupted' })],
		[WAIT]: [success({ role: 'ai', content: 'Done' })],
	};

	it('names the run that waits, and the assistant of its thread, and takes no turn', async () => {
		const decided = await run(waiting, { body, takesTurns: true });
		expect(decided.body).toMatchObject({
			...{ assistant_id: 'of the thread' },
			input: { action: 'resume', target: { executionId: 'r' }, decision: { type: 'confirm' } },
		});
		expect(decided.verdict).toMatchObject({
			...{ status: 'completed', output: 'Done', runId: 'r', assistantId: 'of the thread' },
		});
		expect(decided.names.filter((one) => one === LIST)).toHaveLength(1);
	});

	it('of an assistant that the user names is sent to that', async () => {
		expect((await run(waiting, { body: BODIES.decision })).body).toHaveProperty(
			'assistant_id',
			'a',
		);
	});

	it('goes on while the thread cannot be read and the same waits; a message has another number, and is answered', async () => {
		const [first, last] = waiting[READ];
		const unread = {
			...{ ...waiting, [READ]: [first, no(lost), no(lost), no(lost), last] },
			[LIST]: [telling({ status: 'interrupted', created_at: '2026-11-22T08:00:00.000Z' })],
		} as Routes;
		const { verdict } = await run(unread, { body });
		expect(verdict).toMatchObject({ output: 'Done', recovered: true, runId: 'r' });
		const message = await run(unread);
		expect(message.verdict).toMatchObject({ output: 'Done', recovered: false, runId: undefined });
	});
});

describe('a run that takes its turn', () => {
	const LATER = { run_id: 'r2', created_at: '2026-11-22T10:00:09.000Z' };
	const forbidden = no({ ...failure, status: 403 });
	/** It is begun, and has ended so; nobody can hear it. */
	const ended = (status: string, ...others: object[]): Routes => ({
		[LIST]: [telling(), telling({}), telling({ status }, ...others)],
		...{ [START]: [success(RUN)], [ONE_RUN]: [success({ ...RUN, status })], [JOIN]: [forbidden] },
	});
	const inTurn = async (routes: Routes) => await run(routes, { takesTurns: true });

	it('is sent as any other where the server lists runs and begins none', async () => {
		const { verdict } = await inTurn({ ...ended('success'), [START]: [NO_ROUTE] });
		expect(verdict).toMatchObject({ status: 'completed', output: 'Ho' });
	});

	it('is not sent where another goes on until the deadline, or the server says no', async () => {
		for (const [status, routes] of [
			['timedOut', { [LIST]: [telling(LATER)] }],
			['failed', { [START]: [forbidden] }],
		] satisfies Array<[string, Routes]>) {
			const { verdict, names } = await inTurn({ ...ended('success'), ...routes });
			expect(verdict.status).toBe(status);
			expect(names).not.toContain(WAIT);
		}
	});

	it('begins again after it gave way, though the same was asked before and has an answer', async () => {
		const older = { run_id: 'older', created_at: '2026-11-22T09:59:59.000Z' };
		const { names } = await inTurn({
			...ended('success'),
			[READ]: [after],
			[LIST]: [telling(), telling({}, older), telling(), telling(), telling({ status: 'success' })],
			[ONE_RUN]: ['interrupted', 'success'].map((status) => success({ ...RUN, status })),
		});
		expect(names.filter((one) => one === START)).toHaveLength(2);
	});

	it('is not completed by words on its thread where it waits for a person, or has failed', async () => {
		const operation = { tasks: [{ id: 'task' }] };
		const waits = await inTurn({
			...ended('interrupted'),
			[SEARCH]: [conversation({ status: 'interrupted', operation })],
			[READ]: [before, thread([...EARLIER, person('Hi'), assistant('May I?', [{ id: 'call' }])])],
		});
		expect(waits.verdict).toMatchObject({ status: 'interrupted', interrupt: operation.tasks });
		const { verdict } = await inTurn(ended('error'));
		expect(verdict).toMatchObject({ status: 'failed' });
	});

	it('is not called forgotten where others came after it and its thread holds its answer, or cannot be read', async () => {
		const worded = [...EARLIER, person('in words of the server'), assistant('Ho'), person('q')];
		for (const look of [thread(worded), forbidden]) {
			const { verdict } = await inTurn({ ...ended('success', LATER), [READ]: [before, look] });
			expect(verdict).toMatchObject({ status: 'completed', output: 'Ho' });
			expect(verdict).not.toHaveProperty('remembered');
		}
	});
});

describe('a run that is not sent', () => {
	const unreadable = { [READ]: [no(failure)] };
	const withoutStatus = { [SEARCH]: [listed({ id: 'c', threadId: 't' })] };
	const unknown = { [SEARCH]: [listed()], [CONVERSATION]: [success({})] };
	const mixedUp = { ...unknown, [CONVERSATION]: [success({ id: 't', threadId: 'another' })] };
	const unasked = { [SEARCH]: [listed(), no({ ...failure, status: 403 })] };

	it.each([
		['retry', withoutStatus, 'Nothing was said on this thread'],
		['decision', withoutStatus, 'Nothing on this thread waits'],
		['retry', unknown, 'There is no conversation with this thread'],
		['decision', unknown, 'There is no conversation with this thread'],
		['retry', mixedUp, '"Thread" holds the ID of a conversation'],
		['decision', mixedUp, '"Thread" holds the ID of a conversation'],
	] as const)('goes on with nothing (%s, %j): %s', async (kind, routes, words) => {
		const { verdict, names } = await run({ ...unreadable, ...routes }, { body: BODIES[kind] });
		expect(verdict.reason).toContain(words);
		expect(names).not.toContain(WAIT);
	});

	it('is not said to have no thread where that cannot be asked', async () => {
		const { verdict } = await run({ ...unreadable, ...unasked }, { body: BODIES.retry });
		expect(verdict).toMatchObject({ status: 'failed', failure: { status: 403 } });
		expect(verdict.reason).toBeUndefined();
	});

	it('had no time left', async () => {
		const { verdict, names } = await run({}, { isNew: true, deadline: 0 });
		expect(verdict.reason).toBe('The run had not begun when the deadline came');
		expect(names).toEqual([]);
	});
});

describe('a thread that is refused', () => {
	const refused = { [READ]: [no(failure)], [WAIT]: [no(failure)] };

	it('is said not to exist only where its conversation can be asked for, and is not there', async () => {
		const nowhere = { [SEARCH]: [listed()], [CONVERSATION]: [success({})] };
		const { verdict } = await run({ ...refused, ...nowhere });
		expect(verdict.reason).toBe('There is no conversation with this thread');
		const there = await run({ ...refused, [SEARCH]: [listed({ id: 'c', threadId: 't' })] });
		expect(there.verdict).toMatchObject({ status: 'failed', failure, conversationId: 'c' });
		expect(there.verdict.reason).toBeUndefined();
		const unknown = { [SEARCH]: [listed(), no({ ...failure, status: 403 })] };
		const unread = await run({ ...refused, ...unknown });
		expect(unread.verdict).toMatchObject({ status: 'failed', failure: { status: 500 } });
		expect(unread.verdict.reason).toBeUndefined();
	});

	it('is not asked for where it is our own, or where the server explains itself', async () => {
		const own = await run(refused, { isNew: true });
		expect(own.verdict.reason).toBeUndefined();
		expect(own.names).not.toContain(SEARCH);
		const forbidden = no({ ...failure, status: 403 });
		const told = await run({ ...refused, [WAIT]: [forbidden], [SEARCH]: [listed()] });
		expect(told.verdict).toMatchObject({ status: 'failed', failure: { status: 403 } });
		expect(told.verdict.reason).toBeUndefined();
	});
});
