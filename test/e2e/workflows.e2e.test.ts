import { countBy } from 'lodash';

import { useSharedHarness } from './support/harness';

const harness = useSharedHarness();

describe('the example workflows in n8n', () => {
	let ingestId: string;

	beforeAll(async () => {
		const credential = await harness.createCredential();
		ingestId = await harness.importWorkflow('ingest-markdown-documents.json', credential);
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
					outcome: 'stored',
					processing: 'finish',
				}),
			),
		);

		const [knowledgebase] = execution.json('Create Knowledgebase');
		const stored = harness.sandbox.store.documentsOf(String(knowledgebase?.id));
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

	it('report what the server refuses to the caller of the webhook', async () => {
		harness.sandbox.faults.add({
			endpoint: 'E4',
			do: 'status',
			status: 403,
			body: { message: 'Access denied to workspace', statusCode: 403 },
		});
		const { status } = await harness.callWebhook('ask', { question: 'Anything?' });
		expect(status).toBe(500);
		harness.sandbox.faults.clear();
	});
});
