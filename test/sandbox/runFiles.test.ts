import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SANDBOX_ASSISTANT_ID, SAYING_ASSISTANT } from '../../sandbox';
import { newThread, upload } from './support/client';
import { ask, document, newKnowledgebase, process, store } from './support/knowledge';
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
});

describe('the assistant that answers from documents', () => {
	const WARRANTY = join(__dirname, '../../examples/documents/service/warranty.pdf');
	const attach = (content: string | Buffer, name: string) =>
		upload(client, content, name, '/api/ai/contexts/file');
	const asked = (question: string, ...files: object[]) =>
		client.post<{ content: string }>(`/api/ai/threads/${thread}/runs/wait`, {
			assistant_id: SANDBOX_ASSISTANT_ID,
			input: { action: 'send', message: { input: { input: question, files } } },
		});

	it.each(['fileId', 'storageFileId'] as const)(
		'quotes the sentence of the file that came along, known by its %s',
		async (key) => {
			const file = await attach('Otters swim. Owls fly at night.', 'animals.txt');
			const { data } = await asked('Who flies at night?', {
				[key === 'fileId' ? 'fileId' : 'id']: file[key],
			});
			expect(data.content).toBe('According to "animals.txt": "Owls fly at night."');
		},
	);

	it('reads the text of a PDF, whatever the summary of its upload says', async () => {
		const { fileId } = await attach(readFileSync(WARRANTY), 'warranty.pdf');
		const { data } = await asked('How long does the warranty last?', { fileId });
		expect(data.content).toMatch(/^According to "warranty.pdf": "The warranty .* three years /);
	});

	it('quotes the best of several files, and no document beside them', async () => {
		const kb = await newKnowledgebase(client);
		const id = '10000000-0000-4000-8000-000000000001';
		await store(client, kb, [{ id, ...(await document(client, 'Owls bark.', 'stored.md')) }]);
		await process(client, kb, [id]);
		const { id: one } = await upload(client, 'Otters swim.', 'otters.txt');
		const { id: two } = await upload(client, 'Owls fly.', 'owls.txt');
		const { data } = await asked('What do owls do?', { id: one }, { id: two });
		expect(data.content).toBe('According to "owls.txt": "Owls fly."');
		expect(await ask(client, 'What do owls do?')).toBe('According to "stored.md": "Owls bark."');
	});

	it('quotes what the file begins with when no sentence fits the question', async () => {
		const { id } = await upload(client, '# Invoice 7\n\nYou owe us 12 euros.', 'paper.md');
		const { data } = await asked('What is this?', { id });
		expect(data.content).toBe('According to "paper.md": "You owe us 12 euros."');
	});

	it.each([
		[
			'slides.pptx',
			'slides',
			'I cannot read "slides.pptx": The sandbox has no reader for pptx files.',
		],
		['broken.pdf', 'no PDF', 'I cannot read "broken.pdf": Invalid PDF structure'],
		['empty.txt', '', '"empty.txt" is empty.'],
	])('says why it cannot answer from %s', async (name, content, answer) => {
		const { id } = await upload(client, content, name);
		expect((await asked('What is this?', { id })).data.content).toBe(answer);
	});

	it('reads the files again when the question is asked again', async () => {
		const { id } = await upload(client, 'Otters swim.', 'otters.txt');
		const { data } = await asked('Who swims?', { id });
		const again = await client.post<{ content: string }>(`/api/ai/threads/${thread}/runs/wait`, {
			assistant_id: SANDBOX_ASSISTANT_ID,
			input: { action: 'retry', source: {} },
		});
		expect(again.data.content).toBe(data.content);
	});
});
