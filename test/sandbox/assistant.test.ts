import { BROKEN_ASSISTANT_ID, NOTHING_FOUND, SANDBOX_ASSISTANT_ID } from '../../sandbox';
import { newThread, runOn, until, viewOf } from './support/client';
import { useSandbox } from './support/useSandbox';

const ID = '44444444-4444-4444-8444-444444444444';

const { client } = useSandbox();
let knowledgebaseId: string;

beforeEach(async () => {
	const { data } = await client.post<{ id: string }>('/api/ai/knowledges', { name: 'Handbook' });
	knowledgebaseId = data.id;
});

const ingest = (...documents: unknown[]) =>
	client.post(`/api/ai/knowledges/${knowledgebaseId}/bulk`, documents);

const ask = async (question: string) => {
	const thread = await newThread(client);
	return (await runOn(client, thread, question, SANDBOX_ASSISTANT_ID)).data.content;
};

describe('the sandbox assistant', () => {
	it('quotes the ingested document that fits, with its name', async () => {
		await ingest(
			{ name: 'holidays.txt', pages: [{ pageContent: 'Every employee has 30 days of holiday.' }] },
			{
				name: 'coffee.txt',
				chunks: [{ pageContent: 'The coffee machine is on the second floor.' }],
			},
		);
		expect(await ask('Where is the coffee machine?')).toBe(
			'According to "coffee.txt": "The coffee machine is on the second floor."',
		);
		expect(await ask('How many days of holiday do I have?')).toContain('"holidays.txt"');
	});

	it('says so when nothing fits', async () => {
		await ingest({ name: 'coffee.txt', pages: [{ pageContent: 'The coffee machine.' }] });
		expect(await ask('What is the weather on Mars?')).toBe(NOTHING_FOUND);
	});

	it('answers from a replaced document as it stands now', async () => {
		await ingest({ id: ID, name: 'gate.txt', pages: [{ pageContent: 'The gate code is amber.' }] });
		expect(await ask('gate code')).toContain('amber');
		await ingest({
			id: ID,
			name: 'gate.txt',
			pages: [{ pageContent: 'The gate code is violet.' }],
		});
		expect(await ask('gate code')).toContain('violet');
		expect(await ask('amber')).toBe(NOTHING_FOUND);
	});

	it('knows nothing of a deleted knowledgebase', async () => {
		await ingest({ name: 'gate.txt', pages: [{ pageContent: 'The gate code is amber.' }] });
		await client.delete(`/api/ai/v1/kb/${knowledgebaseId}`);
		expect(await ask('gate code')).toBe(NOTHING_FOUND);
	});

	it('finds a document without text by its name', async () => {
		await ingest({ name: 'invoice-4711.pdf', metadata: { customer: 'Globex' } });
		expect(await ask('Globex')).toContain('"invoice-4711.pdf"');
	});

	it('finds words in scripts without spaces', async () => {
		await ingest({ name: '咖啡.txt', pages: [{ pageContent: '咖啡机在二楼。' }] });
		expect(await ask('咖啡机')).toContain('咖啡机在二楼');
	});

	it('quotes of a long page the part that was asked for', async () => {
		const filler = 'Nothing to see here. '.repeat(200);
		await ingest({
			name: 'long.txt',
			pages: [{ pageContent: `${filler}The safe holds rubies. ${filler}` }],
		});
		const answer = await ask('rubies');
		expect(answer).toContain('The safe holds rubies.');
		expect(answer.length).toBeLessThan(700);
	});
});

describe('a thread', () => {
	it('keeps the messages of all its turns, and E15 shows them', async () => {
		const thread = await newThread(client);
		expect(await runOn(client, thread, 'one')).toEqual({
			status: 201,
			data: { role: 'ai', content: 'Echo: one' },
		});
		await runOn(client, thread, 'two');
		const view = await viewOf(client, thread);
		expect(view.status).toBe('idle');
		expect(view.values.messages.map(({ type, content }) => `${type}: ${content}`)).toEqual([
			'human: one',
			'ai: Echo: one',
			'human: two',
			'ai: Echo: two',
		]);
	});

	it('shows a failed run only in the conversation and the thread', async () => {
		const thread = await newThread(client);
		await runOn(client, thread, 'fine');
		expect(await runOn(client, thread, 'BOOM')).toEqual({
			status: 201,
			data: { role: 'ai', content: 'Echo: fine' },
		});
		const { data } = await client.post<{ items: unknown[] }>('/api/ai/conversations/search', {
			where: { threadId: thread },
		});
		expect(data.items).toMatchObject([{ status: 'error', error: 'The model failed: BOOM' }]);
		expect((await viewOf(client, thread)).status).toBe('error');
		expect((await runOn(client, thread, 'again')).data.content).toBe('Echo: again');
		expect((await viewOf(client, thread)).status).toBe('idle');
	});

	it('answers with nothing when its first run fails', async () => {
		const thread = await newThread(client);
		const { data } = await runOn(client, thread, 'hello', BROKEN_ASSISTANT_ID);
		expect(data).toEqual({ role: 'ai', content: '' });
	});

	it('takes files that were uploaded', async () => {
		const form = new FormData();
		form.append('file', new Blob(['hello']), 'a.txt');
		const { data: file } = await client.post<{ id: string }>('/api/ai/v1/file', form);
		const thread = await newThread(client);
		const input = { input: { input: 'look', files: [{ id: file.id }] } };
		const { status } = await client.post(`/api/ai/threads/${thread}/runs/wait`, { input });
		expect(status).toBe(201);
	});
});

describe('a run that takes a while', () => {
	const { client: slowClient } = useSandbox({ runMs: 300 });

	it('goes on when the connection drops: busy, then idle with the answer', async () => {
		const thread = await newThread(slowClient);
		const gone = new AbortController();
		const waiting = slowClient
			.post(
				`/api/ai/threads/${thread}/runs/wait`,
				{ input: { input: { input: 'gate code' } } },
				{ signal: gone.signal },
			)
			.catch((error: Error) => error.message);
		const busy = await until(
			() => slowClient.get<{ status?: string }>(`/api/ai/threads/${thread}`),
			({ data }) => data.status === 'busy',
		);
		expect(busy.data.status).toBe('busy');
		gone.abort();
		expect(await waiting).toBe('canceled');
		const after = await until(
			() => viewOf(slowClient, thread),
			({ status }) => status === 'idle',
		);
		expect(after.status).toBe('idle');
		expect(after.values.messages.at(-1)).toMatchObject({ type: 'ai', content: NOTHING_FOUND });
	});

	it('loses messages when another runs on the same thread', async () => {
		const thread = await newThread(slowClient);
		await runOn(slowClient, thread, 'first');
		const answers = await Promise.all(['a', 'b'].map((text) => runOn(slowClient, thread, text)));
		expect(answers.map(({ data }) => data.content).sort()).toEqual(['Echo: a', 'Echo: b']);
		const { values } = await viewOf(slowClient, thread);
		expect(values.messages.length).toBeLessThan(6);
	});
});
