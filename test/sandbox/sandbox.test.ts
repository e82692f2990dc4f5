import { randomBytes } from 'node:crypto';
import { ECHO_ASSISTANT_ID, FakeClock, startSandbox } from 'sandbox';
import { textIn } from 'sandbox/entities';
import { cutOf, split } from 'sandbox/processing/splitter';
import { upload } from './support/client';
import { useSandbox } from './support/useSandbox';

const { sandbox, client } = useSandbox({ accessToken: 'secret' });

describe('a sandbox', () => {
	it('is as at its start after a reset over HTTP', async () => {
		await client.post('/api/ai/knowledges', { name: 'x' });
		await client.post('/sandbox/faults', { do: 'status', status: 500 });
		await client.post('/sandbox/reset');
		const { data } = await client.get<Record<string, unknown[]>>('/sandbox/state');
		expect([data.knowledgebases?.length, data.assistants?.length]).toEqual([10, 12]);
		expect([sandbox.requests.all, sandbox.faults.list()]).toEqual([[], []]);
	});

	it('refuses a fault that makes no sense', async () => {
		for (const rule of [{ do: 'explode' }, { do: 'drop', path: '(' }]) {
			expect((await client.post<unknown>('/sandbox/faults', [rule])).status).toBe(400);
		}
	});

	it.each([undefined, 'Bearer wrong', 'bearer secret'])(
		'answers 401 to %s',
		async (authorization) => {
			for (const path of ['/api/ai/assistants/count', '/sandbox/reset']) {
				const headers = { authorization };
				expect((await client.post<unknown>(path, {}, { headers })).status).toBe(401);
			}
		},
	);
});

describe('a cancelled run', () => {
	const clock = new FakeClock();
	const { sandbox: timed, client: people } = useSandbox({ clock });

	it('may land after an older one, whose question the thread then forgets', async () => {
		const { threadId } = timed.store.putConversation({});
		const path = `/api/ai/threads/${threadId}/runs`;
		const start = async (text: string) => {
			const input = { action: 'send', message: { input: { input: text } } };
			return await people.post<{ run_id: string }>(path, {
				assistant_id: ECHO_ASSISTANT_ID,
				input,
			});
		};
		timed.faults.add({ endpoint: 'runs', do: 'run', ms: 300, lands: 500 });
		await start('older');
		const { data } = await start('younger');
		await clock.advance(100);
		await people.post(`${path}/${data.run_id}/cancel`);
		await clock.advance(300);
		const contents = () => timed.store.threads.get(threadId)?.messages.map(textIn);
		expect(contents()).toEqual(['older', 'Echo: older']);
		await clock.advance(500);
		expect(contents()).toEqual(['younger']);
	});
});

describe('the bytes of an uploaded file', () => {
	const MANY = randomBytes(6 * 1024 * 1024);

	it('are served as they came, and go with a reset', async () => {
		const { id, url } = await upload(client, MANY);
		expect(MANY.equals(Buffer.from(await (await fetch(url)).arrayBuffer()))).toBe(true);
		const path = String(sandbox.store.files.get(id)?.file);
		sandbox.reset();
		expect(sandbox.store.contents.at(path)).toBeUndefined();
	});

	it('are 64 kB at most without contents', async () => {
		const bare = await startSandbox({ accessToken: 'secret', keepContents: false });
		client.defaults.baseURL = bare.url;
		const { id } = await upload(client, MANY);
		client.defaults.baseURL = sandbox.url;
		const path = String(bare.store.files.get(id)?.file);
		expect(bare.store.contents.at(path)).toEqual({
			size: MANY.length,
			head: MANY.subarray(0, 65_536),
		});
		await bare.close();
	});
});

describe('cutting a text', () => {
	it('makes chunks of 1000 characters that overlap by 200, whatever the fields of the contract are', () => {
		const text = Array.from({ length: 160 }, (_, i) => `word-${1000 + i} `).join('');
		const contract = { chunkSize: 200, chunkOverlap: 20, delimiter: '. ' };
		const [first = '', second = '', ...others] = split(text, cutOf(contract));
		expect([first.length <= 1000, others]).toEqual([true, []]);
		expect(first).toContain(second.slice(0, 190));
		expect(first).not.toContain(second.slice(0, 201));
	});

	it.each([
		[
			'separators',
			{ chunkSize: 8, separators: '\\n,;' },
			'one;two\nthree;four',
			['one;two', 'three;', 'four'],
		],
		['chunk size alone', { chunkSize: 3 }, 'abcdefgh', ['abc', 'def', 'gh']],
	])('heeds the %s of textSplitter', (_, textSplitter, text, chunks) => {
		const cut = cutOf({ textSplitter: { chunkOverlap: 0, ...textSplitter } });
		expect(split(text, cut)).toEqual(chunks);
	});
});
