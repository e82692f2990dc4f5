import { Agent } from 'node:http';
import axios from 'axios';
import { FakeClock, INTERRUPTING_ASSISTANT, SAYING_ASSISTANT } from '../../sandbox';
import { codeOf, conversationOf, newThread, runOn, say, until, viewOf } from './support/client';
import { useFreshSandbox } from './support/useSandbox';

const SECOND = 1000;
const DAY = 24 * 60 * 60 * SECOND;

let clock: FakeClock;
const { sandbox, client } = useFreshSandbox(() => {
	clock = new FakeClock();
	return { clock, assistants: [SAYING_ASSISTANT, INTERRUPTING_ASSISTANT] };
});
let thread: string;

beforeEach(async () => void (thread = await newThread(client)));

const of = (path = '') => `/api/ai/threads/${thread}/runs${path}`;

interface Run {
	run_id: string;
	status: string;
}

/** Starts a run in the background. */
async function start(text: string, assistantId: string = SAYING_ASSISTANT.id): Promise<string> {
	const { data } = await client.post<Run>(of(), say(text, assistantId));
	return data.run_id;
}

const statusOf = async (id: string) => (await client.get<Run>(of(`/${id}`))).data.status;

/** What comes of a new connection. */
const connecting = async () => await codeOf(axios.get(sandbox.url, { httpAgent: new Agent() }));

/** Hears what comes of joining a run within a short while; `ended` says whether the stream has ended. */
async function joined(id: string, lastEventId?: string) {
	const gone = new AbortController();
	const headers = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
	const answer = await client.get<AsyncIterable<Buffer>>(of(`/${id}/stream`), {
		responseType: 'stream',
		signal: gone.signal,
		headers,
	});
	const timer = setTimeout(() => gone.abort(), 200);
	let text = '';
	try {
		for await (const piece of answer.data) text += piece.toString();
		return { text, ended: true };
	} catch {
		return { text, ended: false };
	} finally {
		clearTimeout(timer);
	}
}

const lastIdIn = (text: string): string | undefined =>
	[...text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1];

/** Lets a run end that nothing makes slow. */
async function ended(id: string): Promise<void> {
	await until(
		() => statusOf(id),
		(status) => status !== 'running',
	);
}

describe('a server that is killed', () => {
	it('leaves its runs running for ever, with what they said, and breaks connections', async () => {
		const waiting = runOn(client, thread, 'LONG20 DRIP1000', SAYING_ASSISTANT.id);
		const broken = codeOf(waiting);
		await clock.untilSleeping();
		await clock.advance(5 * SECOND);
		const [run] = sandbox.store.runs;
		expect(await sandbox.killRuns()).toBe(1);
		expect(await broken).toBe('ECONNRESET');
		await clock.advance(DAY / 2);
		expect(await statusOf(run?.id ?? '')).toBe('running');
		expect((await viewOf(client, thread)).status).toBe('busy');
		expect(await conversationOf(client, thread)).toMatchObject({ status: 'busy' });
		const heard = await joined(run?.id ?? '');
		expect(heard).toMatchObject({ ended: false });
		expect(heard.text).toContain('word4 ');
		expect(heard.text).not.toContain('complete');
	});

	it('answers nobody before it is up again', async () => {
		const id = await start('SLOW60000');
		await sandbox.kill();
		expect(await connecting()).toBe('ECONNREFUSED');
		await sandbox.up();
		expect(await statusOf(id)).toBe('running');
		expect(await sandbox.killRuns()).toBe(0);
	});

	it('leaves a run alone that waits for a person', async () => {
		const id = await start('hello', INTERRUPTING_ASSISTANT.id);
		await ended(id);
		expect(await sandbox.killRuns()).toBe(0);
		expect(await statusOf(id)).toBe('interrupted');
		const decision = {
			action: 'resume',
			target: { executionId: id },
			decision: { type: 'confirm' },
		};
		const confirm = { assistant_id: INTERRUPTING_ASSISTANT.id, input: decision };
		expect((await client.post(of('/wait'), confirm)).data).toMatchObject({
			content: expect.stringContaining('Confirmed: hello') as string,
		});
		expect(await statusOf(id)).toBe('success');
	});

	it('is told to stop: it serves those who are connected, and forgets the rest', async () => {
		const other = await newThread(client);
		const waiting = runOn(client, other, 'SLOW5000 hello', SAYING_ASSISTANT.id);
		await clock.untilSleeping();
		const id = await start('SLOW60000 hello');
		const gone = sandbox.terminate();
		expect(await connecting()).toBe('ECONNREFUSED');
		await clock.advance(6 * SECOND);
		expect((await waiting).data.content).toContain('hello');
		await gone;
		await sandbox.up();
		await clock.advance(DAY / 2);
		expect(await statusOf(id)).toBe('running');
	});
});

describe('a dead run', () => {
	it('cannot be retried, does not hinder the next question, and marks the thread when it is cancelled late', async () => {
		const dead = await start('SLOW60000 first');
		await clock.untilSleeping();
		await clock.advance(SECOND);
		await sandbox.killRuns();
		const retry = { assistant_id: SAYING_ASSISTANT.id, input: { action: 'retry', source: {} } };
		expect((await client.post(of(), retry)).data).toMatchObject({
			message: 'Retry source checkpoint not found',
		});
		const { data: runs } = await client.get<Run[]>(of());
		expect(runs.map(({ status }) => status)).toEqual(['running', 'running']);
		expect((await runOn(client, thread, 'next', SAYING_ASSISTANT.id)).data.content).toBe(
			'You said: next [users seen: 1]',
		);
		expect([await statusOf(dead), (await viewOf(client, thread)).status]).toEqual([
			'running',
			'idle',
		]);
		await client.post(of(`/${dead}/cancel`));
		expect([await statusOf(dead), (await viewOf(client, thread)).status]).toEqual([
			'interrupted',
			'interrupted',
		]);
	});
});

describe('a stream', () => {
	it('is whole until it expires: then joining is open and silent', async () => {
		const id = await start('hello');
		await ended(id);
		expect(await joined(id)).toMatchObject({ ended: true });
		sandbox.expireStream(id);
		expect(await joined(id)).toEqual({ text: '\n', ended: false });
	});

	it('expires by itself a day after its last event', async () => {
		const id = await start('hello');
		await ended(id);
		await clock.advance(DAY - 1);
		expect(await joined(id)).toMatchObject({ ended: true });
		await clock.advance(1);
		expect(await joined(id)).toEqual({ text: '\n', ended: false });
	});

	it('may lose its beginning, as that of a very long answer does', async () => {
		const id = await start('hello');
		await ended(id);
		sandbox.cutStream(id);
		const { text, ended: isWhole } = await joined(id);
		expect(isWhole).toBe(true);
		expect(text).not.toContain('on_conversation_start');
		expect(text).toContain('on_message_start');
		const long = await start('LONG12000');
		await ended(long);
		const { events } = sandbox.store.speeches.get(long) ?? {};
		expect(events).toHaveLength(10_000);
	});

	it('goes on after the last event that was heard, which any number is the id of', async () => {
		const id = await start('hello');
		await ended(id);
		const { text } = await joined(id, '0');
		expect(text).toContain('on_conversation_start');
		expect(await joined(id, lastIdIn(text))).toEqual({ text: '\n', ended: false });
		expect((await joined(id, 'x')).text).toContain('event: error');
	});
});

describe('two conversations on a thread', () => {
	it('are told apart by chance, which a test can decide', async () => {
		await runOn(client, thread, 'hello', SAYING_ASSISTANT.id);
		const first = sandbox.store.conversationOf(thread);
		await client.post('/api/ai/conversations', { threadId: thread });
		expect(await viewOf(client, thread)).toMatchObject({
			status: null,
			values: { messages: [{}, {}] },
		});
		if (first) sandbox.store.comesFirst(first);
		expect((await viewOf(client, thread)).status).toBe('idle');
	});
});

describe('a run that another one has overtaken', () => {
	it('has answered, and seems to wait for a decision that nobody can take', async () => {
		sandbox.faults.add({ do: 'run', outcome: 'overtaken' });
		const { data } = await runOn(client, thread, 'hello', SAYING_ASSISTANT.id);
		expect(data.content).toContain('hello');
		const { status, error, operation } = (await conversationOf(client, thread)) ?? {};
		expect({ status, error }).toEqual({ status: 'interrupted', error: null });
		expect(operation).toMatchObject({ tasks: [{ path: ['__pregel_pull', expect.any(String)] }] });
	});
});
