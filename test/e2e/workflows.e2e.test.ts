import { useSharedHarness } from './support/harness';

const harness = useSharedHarness();

describe('the example workflows in n8n', () => {
	let ingestId: string;

	beforeAll(async () => {
		const credential = await harness.createCredential();
		ingestId = await harness.importWorkflow('ingest-markdown-documents.json', credential);
		await harness.activate(await harness.importWorkflow('ask-an-assistant.json', credential));
	});

	it("ingest this project's own documentation, one document a file", async () => {
		const execution = await harness.runManually(ingestId);
		expect(execution.error).toBeUndefined();

		const read = execution.items('Extract Text');
		const submitted = execution.json('Submit Documents');
		expect(read.length).toBeGreaterThan(2);
		expect(submitted.map(({ outcome }) => outcome)).toEqual(read.map(() => 'stored'));

		const [knowledgebase] = execution.json('Create Knowledgebase');
		const stored = harness.sandbox.store.documentsOf(String(knowledgebase?.id));
		const readme = stored.find(({ name }) => name === 'README.md');
		expect(stored).toHaveLength(read.length);
		expect(readme?.pages).toEqual([
			expect.objectContaining({ pageContent: harness.readDocument('README.md') }),
		]);
	});

	it('answer a question from a webhook, quoting the document the answer comes from', async () => {
		const { status, data } = await harness.callWebhook('ask', {
			question: 'Which Base URL spellings mean the same service?',
		});
		expect(status).toBe(200);
		expect(data).toEqual({
			answer: expect.stringMatching(/README\.md/),
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
