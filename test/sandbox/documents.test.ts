import { useSandbox } from './support/useSandbox';

const ID = '44444444-4444-4444-8444-444444444444';
const OTHER_ID = '55555555-5555-4555-8555-555555555555';

const { sandbox, client } = useSandbox();
let knowledgebaseId: string;

beforeEach(() => {
	knowledgebaseId = sandbox.store.putKnowledgebase({ name: 'Handbook' }).id;
});

const ingest = (documents: unknown, into = knowledgebaseId) =>
	client.post<Array<Record<string, unknown>>>(`/api/ai/knowledges/${into}/bulk`, documents);

const names = () => sandbox.store.documentsOf(knowledgebaseId).map(({ name }) => name);

describe('bulk ingestion', () => {
	it('replaces a document with the same id and clears what is left out', async () => {
		await ingest([
			{ id: ID, name: 'a', filePath: 'f', metadata: { k: 1 }, pages: [{ pageContent: 'p' }] },
		]);
		await ingest([{ id: ID, name: 'b' }]);
		const stored = sandbox.store.documents.get(ID);
		expect(stored).toMatchObject({ name: 'b', filePath: null, metadata: null });
		expect(stored?.pages).toBeUndefined();
		expect(sandbox.store.documents.size).toBe(1);
	});

	it('adds a document again when it has no id', async () => {
		await ingest([{ name: 'a' }]);
		await ingest([{ name: 'a' }]);
		expect(names()).toEqual(['a', 'a']);
	});

	it('answers in the order sent and keeps that order', async () => {
		const sent = Array.from({ length: 50 }, (_, i) => ({ name: `doc ${i}` }));
		const { status, data } = await ingest(sent);
		expect(status).toBe(201);
		expect(data.map(({ name }) => name)).toEqual(sent.map(({ name }) => name));
		expect(names()).toEqual(sent.map(({ name }) => name));
	});

	it.each([
		['a number that is none', { tokenNum: 'abc' }, '22P02'],
		['a source type that is too long', { sourceType: 'z'.repeat(21) }, '22001'],
		['a date that is none', { processBeginAt: 'soon' }, '22007'],
		['an id that is no UUID', { id: 'abc' }, '22P02'],
	])('keeps the rows before one with %s', async (_what, wrong, code) => {
		const { status, data } = await ingest([
			{ name: 'before' },
			{ name: 'bad', ...wrong },
			{ name: 'after' },
		]);
		expect(status).toBe(400);
		expect(data).toMatchObject({ code, driverError: { code } });
		expect(data).not.toHaveProperty('message');
		expect(names()).toEqual(['before']);
	});

	it('moves a document that is sent to another knowledgebase', async () => {
		const other = sandbox.store.putKnowledgebase({ name: 'Other' }).id;
		await ingest([
			{ id: ID, name: 'a' },
			{ id: OTHER_ID, name: 'b' },
		]);
		await ingest([{ id: ID, name: 'a' }], other);
		expect(names()).toEqual(['b']);
		expect(sandbox.store.documentsOf(other)).toHaveLength(1);
	});

	it('counts documents, but too few when requests come at the same time', async () => {
		await ingest([{ name: 'a' }, { name: 'b' }]);
		expect(sandbox.store.knowledgebases.get(knowledgebaseId)?.documentNum).toBe(2);
		const batch = Array.from({ length: 20 }, (_, i) => ({ name: `p${i}` }));
		await Promise.all(Array.from({ length: 5 }, () => ingest(batch)));
		expect(names()).toHaveLength(102);
		expect(sandbox.store.knowledgebases.get(knowledgebaseId)?.documentNum).toBeLessThan(102);
	});

	it('takes the id of an uploaded file', async () => {
		const form = new FormData();
		form.append('file', new Blob(['hello']), 'a.txt');
		const { data: file } = await client.post<{ id: string }>('/api/ai/v1/file', form);
		const { status, data } = await ingest([{ name: 'a', storageFileId: file.id }]);
		expect(status).toBe(201);
		expect(data[0]).toMatchObject({ storageFileId: file.id });
	});

	it('deletes the documents with their knowledgebase', async () => {
		await ingest([{ id: ID, name: 'a' }]);
		const { data } = await client.delete<unknown>(`/api/ai/v1/kb/${knowledgebaseId}`);
		expect(data).toEqual({ raw: [], affected: 1 });
		expect(sandbox.store.documents.size).toBe(0);
	});
});
