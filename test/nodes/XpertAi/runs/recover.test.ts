import { runAndWait } from '../../../../nodes/XpertAi/runs/runAndWait';
import type { Run } from '../../../../nodes/XpertAi/runs/run';
import type { Outcome } from '../../../../nodes/XpertAi/transport/request';
import { failure, listed, lost, no, success } from '../threads/support/answering';
import { BODIES, UNNUMBERED, saying } from './support/run';
import { LIST, ONE_RUN, READ, RUN, SEARCH, serving, telling } from './support/routes';
import type { Routes } from './support/routes';

const SECOND = 1000;
const WAIT = 'POST /threads/t/runs/wait';

const person = (id: string, content: string) => ({ id, content });
const assistant = (id: string, content: string, tool_calls: unknown[] = []) => ({
	...{ id, content, tool_calls },
});
const thread = (messages: object[], status = 'idle') =>
	success({ thread_id: 't', status, values: { messages } });
const record = (status: string) => success({ ...RUN, status });

const EARLIER = [person('1', 'p'), assistant('2', 'an older answer')];
const WAITS = [...EARLIER, person('3', 'q'), assistant('4', '', [{ id: 'call' }])];
const waiting = thread(WAITS, 'interrupted');
const decided = thread([...WAITS, assistant('5', 'Done')]);

/** A run whose wait breaks, on such a server. */
async function broken(routes: Routes, more: Partial<Run> = {}) {
	const { asking, names, time } = serving({ [WAIT]: [no(lost)], ...routes });
	const verdict = await runAndWait({
		...{ ...UNNUMBERED, ...asking, numbers: { areMissing: false } },
		...{ threadId: 't', body: { ...saying('Hi'), assistant_id: 'a' } },
		...{ isNew: false, whenBusy: 'wait', deadline: time.now() + 60 * SECOND, ...more },
	});
	return { verdict, names: names(), tookMs: time.elapsed() };
}

describe('a decision whose wait breaks, on a thread that stands as it was', () => {
	const body = BODIES.decision;
	const tasks = [{ id: 'task' }];
	const server = (looks: Outcome[], reads: Outcome[] = [waiting]): Routes => ({
		[READ]: reads,
		[SEARCH]: [listed({ id: 'c', threadId: 't', status: 'interrupted', operation: { tasks } })],
		[LIST]: [telling({ status: 'interrupted' })],
		[ONE_RUN]: looks,
	});

	it('has not arrived where two looks find that its run still waits', async () => {
		const { verdict, tookMs } = await broken(server([record('interrupted')]), { body });
		expect(verdict).toMatchObject({ status: 'failed', failure: lost, runId: 'r' });
		expect(verdict.reason).toContain('The decision did not reach the assistant');
		expect(tookMs).toBe((2 + 3) * SECOND);
	});

	it('may begin between two looks', async () => {
		const looks = [record('interrupted'), record('running')];
		const { verdict } = await broken(server(looks, [waiting, waiting, waiting, decided]), { body });
		expect(verdict).toMatchObject({ status: 'completed', output: 'Done', recovered: true });
	});

	it('goes on at the deadline where its run does', async () => {
		const { verdict, tookMs } = await broken(server([record('running')]), { body });
		expect(verdict.reason).toBe('The run was still going on when the deadline came');
		expect(tookMs).toBe(60 * SECOND);
	});

	it('is not known to have arrived where its run has ended, or cannot be read', async () => {
		for (const look of [record('success'), record('error'), no(failure)]) {
			const { verdict } = await broken(server([look]), { body });
			expect(verdict.status).toBe('timedOut');
			expect(verdict.reason).toContain('The decision may have reached the assistant');
		}
	});

	it('is not asked for by its number where the server has none', async () => {
		const target = { executionId: 'named' };
		const named = { ...body, input: { ...body.input, target } };
		const missing = { body: named, numbers: { areMissing: true } };
		const { verdict, names } = await broken(server([]), missing);
		expect(verdict.status).toBe('timedOut');
		expect(names.some((one) => one.includes('/runs/named'))).toBe(false);
	});
});

describe('a question that is answered again, and whose wait breaks', () => {
	it('is looked for until the deadline, as nothing may be seen of it', async () => {
		const { verdict, tookMs } = await broken(
			{ [READ]: [thread(EARLIER)], [LIST]: [telling()] },
			{
				body: BODIES.retry,
			},
		);
		expect(verdict.reason).toContain('The request may have reached the assistant');
		expect(tookMs).toBe(60 * SECOND);
	});
});

describe('a message whose wait breaks', () => {
	const conversation = (more: object) => ({
		[SEARCH]: [listed({ id: 'c', threadId: 't', ...more })],
		[LIST]: [telling()],
	});

	it('has failed where only its conversation tells so, and the thread cannot be read', async () => {
		const server = {
			[READ]: [no(failure)],
			...conversation({ status: 'error', error: 'No model' }),
		};
		const { verdict } = await broken(server, { isNew: true });
		expect(verdict).toMatchObject({
			...{ status: 'failed', reason: 'The run failed: No model', recovered: true },
		});
	});

	it('has not arrived where neither thread nor conversation know of a run', async () => {
		const { verdict } = await broken(
			{ [READ]: [no(failure)], ...conversation({}) },
			{ isNew: true },
		);
		expect(verdict.reason).toContain('The message did not reach the assistant');
	});

	it('ended without an answer where its thread holds it, and nothing was said to it', async () => {
		const asked = thread([...EARLIER, person('3', 'Hi')]);
		const server = { [READ]: [thread(EARLIER), asked], ...conversation({ status: 'idle' }) };
		const { verdict, tookMs } = await broken(server);
		expect(verdict).toMatchObject({ status: 'failed', recovered: true, conversationId: 'c' });
		expect(verdict.reason).toContain('ended without an answer');
		expect(tookMs).toBe(5 * SECOND);
	});
});
