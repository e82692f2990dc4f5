import { startSandbox, type Sandbox, type SandboxOptions } from '../../sandbox';
import { clientFor } from './support/client';

const COUNT = 100;
const batch = Array.from({ length: COUNT }, (_, number) => ({
	id: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
	name: `document ${number}`,
	pages: [{ pageContent: 'x'.repeat(1000) }],
}));

let sandbox: Sandbox;
afterEach(async () => await sandbox.close());

/** Stores the batch on a fresh sandbox. */
async function store(options: SandboxOptions): Promise<void> {
	sandbox = await startSandbox(options);
	const { id } = sandbox.store.putKnowledgebase({ name: 'Handbook' });
	const { status } = await clientFor(sandbox).post(`/api/ai/knowledges/${id}/bulk`, batch);
	expect(status).toBe(201);
}

it('hardly anything is kept of documents and requests where very many are to come', async () => {
	await store({ logBodies: false, keepContents: false });
	expect(sandbox.store.documents.size).toBe(COUNT);
	expect(sandbox.store.documents.get(batch[0]?.id ?? '')).not.toHaveProperty('pages');
	const [entry] = sandbox.requests.all;
	expect(entry).toMatchObject({ endpoint: 'E3', method: 'POST', status: 201, headers: {} });
	expect(entry?.byteLength).toBe(Buffer.byteLength(JSON.stringify(batch)));
	expect(entry).not.toHaveProperty('body');
	expect(entry).not.toHaveProperty('rawBody');
});

it('large bodies leave no text in the log, also when it keeps bodies', async () => {
	await store({});
	expect(sandbox.requests.all[0]).toMatchObject({ body: { length: COUNT } });
	expect(sandbox.requests.all[0]).not.toHaveProperty('rawBody');
});
