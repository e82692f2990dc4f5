import { writeFileSync } from 'node:fs';
import path from 'node:path';

import type { WorkflowFile } from '../../host/examples';
import { exampleOnCall } from './support/examples';
import { useSharedHarness } from './support/harness';

const harness = useSharedHarness();

/** The example with its knowledgebase filled in. */
function nightlyWorkflow(knowledgebaseId: string): WorkflowFile {
	const example = exampleOnCall('nightly-ingestion.json', 'Every Night', 'nightly');
	const filled = JSON.stringify(example).replaceAll('your-knowledgebase-id', knowledgebaseId);
	return JSON.parse(filled) as WorkflowFile;
}

describe('the example "nightly ingestion" in n8n', () => {
	let knowledgebaseId: string;
	let workflowId: string;

	const night = async () => {
		const before = harness.sandbox.requests.of('E3').length;
		await harness.callWebhook('nightly');
		const execution = await harness.latestExecution(workflowId);
		const bodies = harness.sandbox.requests
			.of('E3')
			.slice(before)
			.map(({ body }) => body as unknown[]);
		return { execution, sent: bodies.flat().length };
	};

	beforeAll(async () => {
		knowledgebaseId = harness.sandbox.store.putKnowledgebase({ name: 'Nightly' }).id;
		const credential = await harness.createCredential();
		workflowId = await harness.importWorkflow(nightlyWorkflow(knowledgebaseId), credential);
		await harness.activate(workflowId);
	});

	it('sends every file in the first night', async () => {
		const { execution, sent } = await night();
		const files = execution.items('Read Files').length;
		expect(execution.error).toBeUndefined();
		expect(files).toBeGreaterThan(2);
		expect(sent).toBe(files);
		expect(execution.json('Submit Documents').map(({ outcome }) => outcome)).toEqual(
			Array.from({ length: files }, () => 'stored'),
		);
		expect(harness.sandbox.store.documentsOf(knowledgebaseId)).toHaveLength(files);
	});

	it('sends nothing in the second, when nothing has changed', async () => {
		const { execution, sent } = await night();
		expect(sent).toBe(0);
		expect(new Set(execution.json('Submit Documents').map(({ outcome }) => outcome))).toEqual(
			new Set(['unchanged']),
		);
	});

	it('sends only what has changed in the third, and doubles nothing', async () => {
		writeFileSync(path.join(harness.host.documents, 'CHANGELOG.md'), '# Changed overnight\n');
		const { execution, sent } = await night();
		expect(sent).toBe(1);
		expect(execution.json('Sent').map(({ name }) => name)).toEqual(['CHANGELOG.md']);
		expect(harness.sandbox.store.documentsOf(knowledgebaseId)).toHaveLength(
			execution.items('Read Files').length,
		);
	});

	it('puts a file the server refuses on the error branch and stores the others', async () => {
		writeFileSync(path.join(harness.host.documents, 'CHANGELOG.md'), '# Changed again\n');
		harness.sandbox.faults.add({
			endpoint: 'E3',
			do: 'status',
			status: 422,
			body: { message: 'Not tonight', statusCode: 422 },
		});
		const { execution } = await night();
		harness.sandbox.faults.clear();
		expect(execution.json('Not Stored')).toEqual([
			expect.objectContaining({ error: 'The server answered 422: Not tonight' }),
		]);

		const { sent } = await night();
		expect(sent).toBe(1);
	});
});
