import { FakeClock, startSandbox } from '../../sandbox';
import { clientFor, upload } from './support/client';
import {
	document,
	newKnowledgebase,
	process,
	queue,
	statusOf,
	store,
	type Status,
} from './support/knowledge';
import { useFreshSandbox, useSandbox } from './support/useSandbox';

const IDS = Array.from(
	{ length: 12 },
	(_, i) => `4444444${i.toString(16)}-4444-4444-8444-444444444444`,
);
const [ONE = '', TWO = '', THREE = '', ELSEWHERE = '', UNKNOWN = ''] = IDS;
const RUNNING = { status: 'running', progress: 0, processMsg: '' };
const FINISHED = { status: 'finish', progress: 100, processMsg: '' };

describe('what processing comes to', () => {
	const { sandbox, client } = useSandbox({ processMs: 5 });
	let kb: string;

	beforeEach(async () => void (kb = await newKnowledgebase(client)));

	const ending = async (fields: object, into = kb): Promise<Status | undefined> => {
		await store(client, into, [{ id: ONE, ...fields }]);
		return (await process(client, into, [ONE]))[0];
	};

	it('is an error with what begins as a PDF does, whatever it is called', async () => {
		const fields = await document(client, '%PDF-1.4 nope', 'no extension');
		expect(await ending(fields)).toMatchObject({ processMsg: 'Invalid PDF structure' });
	});

	it.each(['docx', 'pptx', 'epub'])(
		'is well with %s, in which the sandbox finds nothing',
		async (type) => {
			const fields = await document(client, 'PK', `a.${type}`);
			expect(await ending(fields)).toMatchObject(FINISHED);
			expect(sandbox.store.findable(ONE)?.chunks).toEqual([]);
		},
	);

	it('is an error where no copilot serves the embedding model', async () => {
		const { data } = await client.post<{ id: string }>('/api/ai/knowledges', {
			name: 'Unusable model',
			copilotModel: { modelType: 'text-embedding', model: 'm' },
		});
		expect(await ending(await document(client, 'hello'), data.id)).toMatchObject({
			status: 'error',
			processMsg: "Copilot not set for embedding model 'm'",
		});
	});

	it('is the end with an address of another server', async () => {
		const other = await startSandbox();
		const { url: fileUrl } = await upload(clientFor(other), 'hello');
		expect(await ending({ fileUrl })).toMatchObject(FINISHED);
		await other.close();
	});

	it('is as many chunks as the textSplitter makes', async () => {
		const fields = await document(client, 'A sentence of some words. '.repeat(60));
		const chunkNum = async (parserConfig: object) => {
			await ending({ ...fields, parserConfig });
			return Number(sandbox.store.documents.get(ONE)?.chunkNum);
		};
		const usual = await chunkNum({});
		const contract = { chunkSize: 200, chunkOverlap: 20, delimiter: '. ' };
		expect(await chunkNum(contract)).toBe(usual);
		const textSplitter = { chunkSize: 200, chunkOverlap: 20 };
		expect(await chunkNum({ ...contract, textSplitter })).toBeGreaterThan(usual * 3);
	});

	it('can be said in the metadata', async () => {
		const told = (sandboxed: object) => ending({ metadata: { sandbox: sandboxed } });
		expect(await told({ process: 'error', processMsg: 'No text found' })).toMatchObject({
			status: 'error',
			processMsg: 'No text found',
		});
		expect(await told({ process: 'cancel' })).toMatchObject({ status: 'cancel' });
		expect(await told({ process: 'finish' })).toMatchObject(FINISHED);
	});
});

describe('an uploaded file', () => {
	const { client } = useSandbox();
	const fetched = async (url: string) => {
		const answer = await fetch(url);
		return [answer.status, await answer.text()];
	};

	it.each(['/api/ai/v1/file', '/api/ai/contexts/file'])(
		'of %s is served at its url without a token',
		async (path) => {
			const { url } = await upload(client, 'hällo', '文件.md', path);
			expect(await fetched(url)).toEqual([200, 'hällo']);
		},
	);

	it('has a url of its own, each time', async () => {
		const [one, other] = [await upload(client, 'one'), await upload(client, 'other')];
		expect(one.url).not.toBe(other.url);
		expect(await fetched(one.url)).toEqual([200, 'one']);
	});

	it('is not there under another address', async () => {
		const { url } = await upload(client, 'hello');
		expect((await fetched(`${url}x`))[0]).toBe(404);
		expect((await fetched(url.replace('/files/', '/../')))[0]).toBe(404);
	});
});

describe('the queue', () => {
	let clock: FakeClock;
	const { sandbox, client } = useFreshSandbox(() => {
		clock = new FakeClock();
		return { clock, processMs: 1000 };
	});
	let kb: string;

	beforeEach(async () => {
		kb = await newKnowledgebase(client);
		const metadata = { sandbox: { process: 'finish' } };
		await store(
			client,
			kb,
			IDS.map((id) => ({ id, metadata })),
		);
	});

	const statuses = async (ids: string[]) =>
		(await statusOf(client, kb, ids)).data.map(({ status }) => status);

	it('works through the documents of one request one after another', async () => {
		await queue(client, kb, [ONE, TWO]);
		await clock.untilSleeping();
		await clock.advance(1000);
		expect(await statuses([ONE, TWO])).toEqual(['finish', 'running']);
		await clock.advance(1000);
		expect(await statuses([ONE, TWO])).toEqual(['finish', 'finish']);
	});

	it('works through five requests at once', async () => {
		for (const id of IDS.slice(0, 7)) await queue(client, kb, [id]);
		await clock.untilSleeping(5);
		expect(clock.sleeping).toBe(5);
		await clock.advance(1000);
		const done = (await statuses(IDS.slice(0, 7))).filter((status) => status === 'finish');
		expect(done).toHaveLength(5);
		await clock.advance(1000);
		expect(new Set(await statuses(IDS.slice(0, 7)))).toEqual(new Set(['finish']));
	});

	it('leaves out what runs already, what is elsewhere and what is unknown', async () => {
		const other = sandbox.store.putKnowledgebase({ name: 'Other' }).id;
		sandbox.store.putDocument({ id: ELSEWHERE, knowledgebaseId: other });
		await queue(client, kb, [ONE]);
		const { data } = await queue(client, kb, [ONE, TWO, ELSEWHERE, UNKNOWN.replace('4', '9')]);
		expect(data.map(({ id }) => id)).toEqual([TWO]);
		expect((await statusOf(client, kb, [ONE, ELSEWHERE])).data).toHaveLength(1);
	});

	it('takes a document again when it is done with it', async () => {
		await queue(client, kb, [ONE]);
		await clock.untilSleeping();
		await clock.advance(1000);
		expect((await queue(client, kb, [ONE])).data).toMatchObject([{ id: ONE, ...RUNNING }]);
	});

	it('processes a document that was queued, changed and queued again as it is now', async () => {
		const slow = IDS.slice(4, 8);
		const metadata = { sandbox: { process: 'finish', processMs: 60_000 } };
		await store(
			client,
			kb,
			slow.map((id) => ({ id, metadata })),
		);
		for (const id of slow) await queue(client, kb, [id]);
		await queue(client, kb, [ONE, TWO]);
		await store(client, kb, [
			{ id: TWO, name: 'changed', metadata: { sandbox: { process: 'finish' } } },
		]);
		await queue(client, kb, [TWO]);
		await clock.untilSleeping(5);
		await clock.advance(1000);
		expect(await statuses([ONE, TWO])).toEqual(['finish', 'running']);
		await clock.advance(1000);
		expect(await statuses([TWO])).toEqual(['finish']);
	});

	it('lets each document take its own time when told so', async () => {
		await store(client, kb, [
			{ id: THREE, metadata: { sandbox: { process: 'finish', processMs: 60_000 } } },
		]);
		await queue(client, kb, [THREE]);
		await clock.untilSleeping();
		await clock.advance(59_999);
		expect(await statuses([THREE])).toEqual(['embedding']);
		await clock.advance(1);
		expect(await statuses([THREE])).toEqual(['finish']);
	});

	it('knows no document of an unknown knowledgebase, and fails at what it cannot read', async () => {
		const unknown = await queue(client, UNKNOWN, [ONE]);
		expect([unknown.status, unknown.data]).toEqual([201, []]);
		expect((await statusOf(client, UNKNOWN, [ONE])).data).toEqual([]);
		expect((await queue(client, kb, [])).data).toEqual([]);
		expect((await queue(client, kb, { ids: [ONE] })).status).toBe(500);
		expect((await queue(client, kb, ['x'])).status).toBe(500);
		expect((await statusOf(client, kb, ['x'])).status).toBe(500);
		expect((await client.get(`/api/ai/knowledges/${kb}/status`)).status).toBe(500);
	});

	it('is logged as process and status, which faults can name', async () => {
		sandbox.faults.add({ endpoint: 'process', do: 'status', status: 503, times: 1 });
		expect((await queue(client, kb, [ONE])).status).toBe(503);
		expect((await queue(client, kb, [ONE])).status).toBe(201);
		await statusOf(client, kb, [ONE]);
		expect(sandbox.requests.of('process')).toHaveLength(2);
		expect(sandbox.requests.of('status')).toMatchObject([{ method: 'GET', status: 200 }]);
	});
});

describe('a server without processing', () => {
	it('answers as to any unknown address', async () => {
		const plain = await startSandbox({ processing: false });
		const { id } = plain.store.putKnowledgebase({ name: 'Handbook' });
		const path = `/api/ai/knowledges/${id}/process`;
		const { status, data } = await clientFor(plain).post<unknown>(path, [ONE]);
		expect([status, data]).toEqual([
			404,
			{ message: `Cannot POST ${path}`, error: 'Not Found', statusCode: 404 },
		]);
		const asked = await clientFor(plain).get<{ message: string }>(
			`/api/ai/knowledges/${id}/status?ids=${ONE}`,
		);
		expect([asked.status, asked.data.message]).toEqual([
			404,
			`Cannot GET /api/ai/knowledges/${id}/status?ids=${ONE}`,
		]);
		await plain.close();
	});
});
