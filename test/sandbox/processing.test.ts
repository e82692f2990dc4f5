import { FakeClock, startSandbox } from '../../sandbox';
import { clientFor } from './support/client';
import { useSandbox } from './support/useSandbox';

const [ONE, TWO, THREE, ELSEWHERE, UNKNOWN] = Array.from(
	{ length: 5 },
	(_, i) => `4444444${i}-4444-4444-8444-444444444444`,
);

interface Status {
	id: string;
	status: string | null;
	progress: number | null;
	processMsg: string | null;
}

const clock = new FakeClock();
const { sandbox, client } = useSandbox({ clock, processMs: 1000 });
let knowledgebaseId: string;

beforeEach(async () => {
	knowledgebaseId = sandbox.store.putKnowledgebase({ name: 'Handbook' }).id;
	await ingest({ id: ONE }, { id: TWO }, { id: THREE });
});

const ingest = (...documents: unknown[]) =>
	client.post(`/api/ai/knowledges/${knowledgebaseId}/bulk`, documents);
const start = (ids: unknown, into = knowledgebaseId) =>
	client.post<Status[]>(`/api/ai/knowledges/${into}/process`, ids);
const status = (ids: unknown[], of = knowledgebaseId) =>
	client.get<Status[]>(`/api/ai/knowledges/${of}/status?ids=${ids.join(',')}`);

describe('processing documents', () => {
	it('does not begin by itself', async () => {
		expect((await status([ONE])).data).toEqual([
			{ id: ONE, status: null, progress: null, processMsg: null },
		]);
	});

	it('answers 201 with the documents queued, and takes them through the statuses', async () => {
		const queued = await start([ONE, TWO, ONE]);
		expect(queued.status).toBe(201);
		expect(queued.data).toMatchObject([
			{ id: ONE, status: 'waiting', progress: 0 },
			{ id: TWO, status: 'waiting', progress: 0 },
		]);
		const seen: unknown[] = [];
		for (let step = 0; step <= 6; step += 1) {
			const { status: code, data } = await status([ONE]);
			expect(code).toBe(200);
			seen.push([data[0]?.status, data[0]?.progress]);
			await clock.advance(200);
		}
		expect(seen).toEqual([
			['waiting', 0],
			['running', 20],
			['transformed', 40],
			['splitted', 60],
			['embedding', 80],
			['finish', 100],
			['finish', 100],
		]);
		expect(sandbox.store.documents.get(ONE ?? '')).toMatchObject({
			status: 'finish',
			progress: 100,
		});
	});

	it('ends in error or is cancelled when the metadata says so, each document in its own time', async () => {
		await ingest(
			{ id: ONE, metadata: { sandbox: { process: 'error', processMsg: 'No text found' } } },
			{ id: TWO, metadata: { sandbox: { process: 'cancel' } } },
			{ id: THREE, metadata: { sandbox: { processMs: 60_000 } } },
		);
		await start([ONE, TWO, THREE]);
		await clock.advance(1000);
		expect((await status([ONE, TWO, THREE])).data).toEqual([
			{ id: ONE, status: 'error', progress: 50, processMsg: 'No text found' },
			{ id: TWO, status: 'cancel', progress: 50, processMsg: 'Cancelled' },
			{ id: THREE, status: 'waiting', progress: 1, processMsg: null },
		]);
	});

	it('starts anew when asked again, and is forgotten when the document is stored again', async () => {
		await start([ONE]);
		await clock.advance(1000);
		await start([ONE]);
		expect((await status([ONE])).data[0]?.status).toBe('waiting');
		await ingest({ id: ONE });
		expect((await status([ONE])).data[0]?.status).toBeNull();
	});

	it('leaves out documents the knowledgebase does not have', async () => {
		const other = sandbox.store.putKnowledgebase({ name: 'Other' }).id;
		sandbox.store.putDocument({ id: ELSEWHERE, knowledgebaseId: other });
		expect((await start([ONE, ELSEWHERE, UNKNOWN])).data).toHaveLength(1);
		expect((await status([UNKNOWN, ONE, ELSEWHERE])).data).toHaveLength(1);
	});

	it('answers 404 for an unknown knowledgebase and 500 for what it cannot read', async () => {
		expect((await start([ONE], UNKNOWN)).status).toBe(404);
		expect((await status([ONE], UNKNOWN)).status).toBe(404);
		expect((await start({ ids: [ONE] })).status).toBe(500);
		expect((await start(['x'])).status).toBe(500);
		expect((await status(['x'])).status).toBe(500);
		expect((await client.get(`/api/ai/knowledges/${knowledgebaseId}/status`)).status).toBe(500);
	});

	it('is logged as process and status, which faults can name', async () => {
		sandbox.faults.add({ endpoint: 'process', do: 'status', status: 503, times: 1 });
		expect((await start([ONE])).status).toBe(503);
		expect((await start([ONE])).status).toBe(201);
		await status([ONE]);
		expect(sandbox.requests.of('process')).toHaveLength(2);
		expect(sandbox.requests.of('status')).toMatchObject([{ method: 'GET', status: 200 }]);
	});

	it('is unknown to a server without it', async () => {
		const plain = await startSandbox({ processing: false });
		const { id } = plain.store.putKnowledgebase({ name: 'Handbook' });
		const path = `/api/ai/knowledges/${id}/process`;
		const posted = await clientFor(plain).post<unknown>(path, []);
		expect([posted.status, posted.data]).toEqual([
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
