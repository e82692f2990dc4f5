import { SAYING_ASSISTANT } from '../../sandbox';
import { newThread, say, upload, viewOf } from './support/client';
import { useSandbox } from './support/useSandbox';

const { sandbox, client } = useSandbox();
let thread: string;

beforeEach(async () => {
	sandbox.store.putAssistant(SAYING_ASSISTANT);
	thread = await newThread(client);
});

const readIt = (...files: object[]) =>
	client.post<{ content: string; code: string; table: string }>(
		`/api/ai/threads/${thread}/runs/wait`,
		{
			assistant_id: SAYING_ASSISTANT.id,
			input: { action: 'send', message: { input: { input: 'read it', files } } },
		},
	);

const context = () => upload(client, 'Otters swim.', 'otters.txt', '/api/ai/contexts/file');

describe('a file in a run', () => {
	it('is a file context by its id, as fileId', async () => {
		const { id } = await context();
		const { status, data } = await readIt({ fileId: id });
		expect(status).toBe(201);
		expect(data.content).toContain('Attachment File: otters.txt');
		expect(data.content).toContain('summary: Otters swim.');
	});

	it('is a file context by the id of its file', async () => {
		const { id, storageFileId } = await context();
		const { data } = await readIt({ id: storageFileId });
		expect(data.content).toContain(`fileId: ${id}\nstorageFileId: ${storageFileId}\n`);
	});

	it('is an uploaded file by its id', async () => {
		const { id } = await upload(client, 'Zebras have stripes.', 'zebras.txt');
		expect((await readIt({ id })).data.content).toContain('Zebras have stripes.');
	});

	it('is not a file context by its own id: the database refuses it', async () => {
		const { id } = await context();
		const { status, data } = await readIt({ id });
		expect([status, data.code, data.table]).toEqual([400, '23502', 'storage_file']);
		expect(data).not.toHaveProperty('message');
		expect(sandbox.store.runs).toEqual([]);
	});

	it('makes the question a message of several parts', async () => {
		const { id } = await context();
		await readIt({ fileId: id });
		const [question] = (await viewOf(client, thread)).values.messages;
		expect(question?.content).toMatchObject([{ type: 'text' }, { type: 'text', text: 'read it' }]);
	});

	it('is one more thing that a run may be without', async () => {
		const { status } = await client.post(
			`/api/ai/threads/${thread}/runs/wait`,
			say('hello', SAYING_ASSISTANT.id),
		);
		expect(status).toBe(201);
	});
});
