import {
	BROKEN_ASSISTANT_ID,
	ECHO_ASSISTANT_ID,
	FakeClock,
	INTERRUPTING_ASSISTANT,
} from '../../sandbox';
import { clientFor, say } from './support/client';
import { useFreshSandbox } from './support/useSandbox';

const UNKNOWN = '99999999-9999-4999-8999-999999999999';

let clock: FakeClock;
const { sandbox, client } = useFreshSandbox(() => {
	clock = new FakeClock();
	return { dialect: 'langgraph', clock };
});
let thread: string;

beforeEach(() => {
	sandbox.store.putAssistant(INTERRUPTING_ASSISTANT);
	thread = sandbox.store.putThread().threadId;
});

const run = (body: object, on = thread) =>
	client.post<Record<string, unknown>>(`/api/ai/threads/${on}/runs/wait`, {
		assistant_id: ECHO_ASSISTANT_ID,
		...body,
	});
const user = (content: unknown) => ({ input: { messages: [{ role: 'user', content }] } });
const get = (id = thread) => client.get<Record<string, unknown>>(`/api/ai/threads/${id}`);
const messages = (...pairs: Array<[type: string, content: string]>) => ({
	messages: pairs.map(([type, content]) => ({ type, content })),
});

describe('a run', () => {
	it('answers 200 with the state, as text', async () => {
		const { status, data, headers } = await run(user('hello'));
		expect([status, headers['content-type']]).toEqual([200, 'text/plain; charset=UTF-8']);
		expect(data).toMatchObject(messages(['human', 'hello'], ['ai', 'Echo: hello']));
		expect((await get()).data).toMatchObject({
			thread_id: thread,
			status: 'idle',
			values: messages(['human', 'hello'], ['ai', 'Echo: hello']),
			interrupts: {},
		});
	});

	it('takes several messages, content in parts, and a graph instead of an assistant', async () => {
		const { data } = await run({
			assistant_id: 'echo',
			input: {
				messages: [
					{ role: 'system', content: 'Be brief' },
					{ role: 'user', content: [{ type: 'text', text: 'hello' }] },
				],
			},
			config: { tags: ['a'], recursion_limit: 5, configurable: {} },
			metadata: { a: 1 },
			multitask_strategy: 'reject',
		});
		expect(data).toMatchObject(
			messages(['system', 'Be brief'], ['human', 'hello'], ['ai', 'Echo: hello']),
		);
	});

	it('sends headers at once and a newline a second while it goes on', async () => {
		sandbox.faults.add({ endpoint: 'E4', do: 'run', ms: 2500 });
		const answer = await fetch(`${sandbox.url}/api/ai/threads/${thread}/runs/wait`, {
			method: 'POST',
			headers: { authorization: 'Bearer sandbox-token', 'content-type': 'application/json' },
			body: JSON.stringify({ assistant_id: ECHO_ASSISTANT_ID, ...user('hello') }),
		});
		expect([answer.status, (await get()).data.status]).toEqual([200, 'busy']);
		await clock.untilSleeping(2);
		await clock.advance(2500);
		const text = await answer.text();
		expect(text).toMatch(/^\n\n\{/);
		expect(JSON.parse(text)).toMatchObject(messages(['human', 'hello'], ['ai', 'Echo: hello']));
	});

	it('goes on when the connection drops', async () => {
		sandbox.faults.add({ endpoint: 'E4', do: 'run', ms: 60_000 });
		sandbox.faults.add({ endpoint: 'E4', do: 'drop', when: 'during', ms: 1500 });
		const answer = run(user('hello')).then(
			() => 'answered',
			() => 'dropped',
		);
		await clock.untilSleeping(3);
		await clock.advance(1500);
		expect(await answer).toBe('dropped');
		expect((await get()).data.status).toBe('busy');
		await clock.advance(60_000);
		expect((await get()).data.status).toBe('idle');
	});

	it('can be given up by a gateway, and cut off in the middle of the answer', async () => {
		const gateway = { do: 'status', when: 'during', ms: 1000, status: 504 } as const;
		sandbox.faults.add({ endpoint: 'E4', do: 'run', ms: 5000 }, { ...gateway, nth: 1 });
		const answer = run(user('hello'));
		await clock.untilSleeping(2);
		await clock.advance(5000);
		expect((await answer).status).toBe(504);
		expect((await get()).data.status).toBe('idle');
		sandbox.faults.clear();
		sandbox.faults.add({ endpoint: 'E4', do: 'truncate', bytes: 5 });
		await expect(run(user('again'))).rejects.toThrow();
	});

	it.each([
		['in words', 'Quota exceeded'],
		['in JSON', '{"type":"error","message":"Quota exceeded"}'],
	])('that fails answers 200 with the reason, %s', async (_how, error) => {
		sandbox.faults.add({ endpoint: 'E4', do: 'run', outcome: 'fail', error });
		const { status, data } = await run({ ...user('hello'), assistant_id: BROKEN_ASSISTANT_ID });
		expect([status, data]).toEqual([200, { __error__: { error: 'Error', message: error } }]);
		expect((await get()).data).toMatchObject({ status: 'error', error: { message: error } });
	});

	it('that asks a person says so, and goes on with what is decided', async () => {
		const assistant = { assistant_id: INTERRUPTING_ASSISTANT.id };
		const { status, data } = await run({ ...user('Delete it'), ...assistant });
		const interrupt = { value: { question: 'May I answer this?', input: 'Delete it' } };
		expect([status, data]).toMatchObject([200, { __interrupt__: [interrupt] }]);
		const waiting = (await get()).data;
		expect(waiting.status).toBe('interrupted');
		expect(Object.values(waiting.interrupts as object)).toMatchObject([[interrupt]]);
		const resumed = await run({ ...assistant, command: { resume: { type: 'reject' } } });
		expect(resumed.data).toMatchObject(
			messages(['human', 'Delete it'], ['ai', 'Rejected: Delete it']),
		);
		const again = await run({ ...assistant, command: { resume: true } });
		expect(again.data).toMatchObject({ __error__: { error: 'EmptyInputError' } });
	});
});

describe('a busy thread', () => {
	it('answers 422, unless the run may wait its turn', async () => {
		sandbox.faults.add({ endpoint: 'E4', do: 'run', ms: 5000 });
		const first = run(user('one'));
		await clock.untilSleeping(2);
		const second = await run(user('two'));
		expect(second.status).toBe(422);
		expect(second.data).toMatch(/^Thread is already running a task/);
		const third = run({ ...user('three'), multitask_strategy: 'enqueue' });
		while (sandbox.requests.of('E4').length < 3) await new Promise(setImmediate);
		await new Promise((resolve) => setTimeout(resolve, 20));
		await clock.advance(20_000);
		expect((await first).data).toMatchObject(messages(['human', 'one'], ['ai', 'Echo: one']));
		expect((await third).data.messages).toHaveLength(4);
	});
});

describe('threads', () => {
	it('are unknown until something creates them', async () => {
		expect([(await get(UNKNOWN)).status, (await run(user('x'), UNKNOWN)).status]).toEqual([
			404, 404,
		]);
		expect((await run({ ...user('x'), if_not_exists: 'create' }, UNKNOWN)).status).toBe(200);
		expect((await get(UNKNOWN)).data).toMatchObject({ metadata: { graph_id: 'echo' } });
	});

	it('show no values before they have run', async () => {
		expect((await get()).data).toMatchObject({ status: 'idle', values: null });
	});

	it('are copied with their messages; a missing one answers 409', async () => {
		await run(user('hello'));
		const copy = (id: string) =>
			client.post<{ thread_id: string }>(`/api/ai/threads/${id}/copy`, {});
		const { status, data } = await copy(thread);
		expect(status).toBe(200);
		expect(data.thread_id).not.toBe(thread);
		await run(user('more'), data.thread_id);
		expect((await get(data.thread_id)).data.values).toMatchObject({ messages: { length: 4 } });
		expect((await get()).data.values).toMatchObject({ messages: { length: 2 } });
		expect((await copy(UNKNOWN)).status).toBe(409);
	});
});

describe('errors', () => {
	it.each<[string, object]>([
		['Xpert’s form of input', say('hello')],
		['the older form of it', { input: { input: { input: 'hello' } } }],
		['no input', {}],
		['null for a field left out', { ...user('x'), config: null }],
		['an unknown strategy', { ...user('x'), multitask_strategy: 'zzz' }],
	])('list the issues of %s', async (_what, body) => {
		const { status, data } = await run(body);
		expect(status).toBe(400);
		expect(data).toMatchObject({
			success: false,
			error: { name: 'ZodError', issues: [{ path: expect.any(Array) as unknown[] }] },
		});
		expect(sandbox.store.runs).toEqual([]);
	});

	it('come as text or as an object with nothing but an error', async () => {
		const bad = await client.post<unknown>(`/api/ai/threads/${thread}/runs/wait`, '{', {
			headers: { 'content-type': 'application/json' },
		});
		expect([bad.status, bad.data]).toEqual([400, 'Malformed JSON in request body']);
		const missing = await client.post<unknown>('/api/ai/knowledges', {});
		expect([missing.status, missing.data]).toEqual([404, '404 Not Found']);
		const denied = await clientFor(sandbox, 'wrong').get<unknown>(`/api/ai/threads/${thread}`);
		expect([denied.status, denied.data]).toEqual([401, { error: 'Unauthorized' }]);
		expect((await get('not-a-uuid')).status).toBe(400);
		const nobody = await run({ ...user('x'), assistant_id: UNKNOWN });
		expect([nobody.status, typeof nobody.data]).toEqual([404, 'string']);
	});
});
