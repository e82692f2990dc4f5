import { countBy } from 'lodash';

import { SANDBOX_KNOWLEDGEBASE_ID } from '../../sandbox';
import { exampleWith } from './support/examples';
import { useSharedHarness } from './support/harness';

const harness = useSharedHarness();

describe('the example workflows in n8n', () => {
	let ingestId: string;

	beforeAll(async () => {
		const credential = await harness.createCredential();
		ingestId = await harness.importWorkflow('folder-of-files.json', credential);
		await harness.activate(await harness.importWorkflow('ask-an-assistant.json', credential));
	});

	it('upload, store and process the handbook, one document a file', async () => {
		const execution = await harness.runManually(ingestId);
		expect(execution.error).toBeUndefined();

		const read = execution.items('Read Files');
		const submitted = execution.json('Submit Documents');
		expect(countBy(read, ({ binary }) => binary?.data?.fileExtension)).toEqual({
			pdf: 2,
			csv: 1,
			md: read.length - 3,
		});
		expect(submitted).toEqual(
			read.map(({ binary }) =>
				expect.objectContaining({
					name: binary?.data?.fileName,
					outcome: 'found',
					processing: 'finish',
				}),
			),
		);

		const stored = harness.sandbox.store.documentsOf(SANDBOX_KNOWLEDGEBASE_ID);
		expect(stored).toHaveLength(read.length);
		const safety = stored.find(({ name }) => name === 'safety.md');
		const content = harness.readDocument('handbook/safety.md');
		expect(safety).toMatchObject({ mimeType: 'text/markdown', size: Buffer.byteLength(content) });
		const [upload] = harness.sandbox.requests
			.of('E16')
			.flatMap(({ files }) => files ?? [])
			.filter(({ filename }) => filename === 'safety.md');
		expect(upload?.content?.toString()).toBe(content);
	});

	it.each([
		[
			'How long does the cleaning run last?',
			/"cleaning-and-care\.md"[^]*The cleaning run lasts 25 minutes/,
		],
		[
			'How long does the warranty last?',
			/"warranty\.pdf"[^]*The warranty for the Hobnell 250 lasts three years from the day the roaster was delivered to you\./,
		],
		[
			'What is the transport lock made of?',
			/"quick-start\.pdf"[^]*The drum is held by a red transport lock made of foam/,
		],
		['What is the price of the roasting drum HB-102?', /"spare-parts\.csv"[^]*89\.00 EUR/],
	])('answer "%s" from a webhook, quoting the document', async (question, answer) => {
		const { status, data } = await harness.callWebhook('ask', { question });
		expect(status).toBe(200);
		expect(data).toEqual({
			answer: expect.stringMatching(answer),
			threadId: expect.any(String),
		});
	});
});

describe('the example "folder of files" where no file is', () => {
	it('says what to change, and sends nothing', async () => {
		const credential = await harness.createCredential();
		const workflow = exampleWith('folder-of-files.json', 'Read Files', (node) => ({
			...node,
			parameters: { ...(node.parameters as object), fileSelector: 'documents/none/*.pdf' },
		}));
		harness.sandbox.requests.clear();
		const { error } = await harness.runManually(await harness.importWorkflow(workflow, credential));
		expect(error?.message).toMatch(/^No file was read: .* In "Settings", let "files" name files/);
		expect(harness.sandbox.requests.all).toEqual([]);
	});
});

describe('the example "table rows" in n8n', () => {
	it('makes a document of each row, which a second run replaces', async () => {
		const credential = await harness.createCredential();
		const id = await harness.importWorkflow('table-rows.json', credential);
		const known = ({ title, path }: Record<string, unknown>) => ({
			name: `${String(title)}.md`,
			key: path,
		});
		const first = await harness.runManually(id);
		expect(first.error).toBeUndefined();
		const submitted = first.json('Submit Documents');
		expect(submitted).toEqual(
			first
				.json('Rows')
				.map((row) =>
					expect.objectContaining({ ...known(row), outcome: 'found', processing: 'finish' }),
				),
		);
		const { data } = await harness.callWebhook('ask', {
			question: 'How long does cold brew stand?',
		});
		expect(data).toMatchObject({ answer: expect.stringMatching(/"Cold brew.*for 16 hours/) });

		const stored = () => harness.sandbox.store.documentsOf(SANDBOX_KNOWLEDGEBASE_ID);
		const before = stored().length;
		const second = await harness.runManually(id);
		expect(second.json('Submit Documents').map((document) => document.id)).toEqual(
			submitted.map((document) => document.id),
		);
		expect(stored()).toHaveLength(before);
	});
});
