import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { countBy, map, times } from 'lodash';

import { PLACEHOLDERS } from '../../host/exampleValues';
import type { WorkflowFile } from '../../host/examples';
import { COPILOT_ID } from '../../sandbox';
import { isNote } from '../engine/support/ingest';
import { timesStored } from '../queue/support/ingestion';
import { exampleOnCall } from './support/examples';
import { useSharedHarness } from './support/harness';

const harness = useSharedHarness();
const NOT_DONE = 'Not Stored or Not Processed';
const FILE = 'tonight.md';

/** The example with its knowledgebase filled in. */
function nightlyWorkflow(knowledgebaseId: string): WorkflowFile {
	const example = exampleOnCall('nightly-ingestion.json', 'Every Night', 'nightly');
	const filled = JSON.stringify(example).replaceAll(PLACEHOLDERS.knowledgebaseId, knowledgebaseId);
	return JSON.parse(filled) as WorkflowFile;
}

describe('the example "nightly ingestion" in n8n', () => {
	let knowledgebaseId: string;
	let workflowId: string;

	const night = async () => {
		const arrived = (endpoint: string) => harness.sandbox.requests.of(endpoint).length;
		const before = arrived('E16');
		await harness.callWebhook('nightly');
		const execution = await harness.latestExecution(workflowId);
		return { execution, uploaded: arrived('E16') - before };
	};
	const write = (text: string) =>
		writeFileSync(path.join(harness.host.documents, FILE), `# Tonight\n\n${text}\n`);
	const stored = () =>
		harness.sandbox.store.documentsOf(knowledgebaseId).filter((document) => !isNote(document));
	/** What an assistant can find of the file that changes. */
	const findable = () => {
		const document = stored().find(({ name }) => name === FILE);
		return harness.sandbox.store.findable(String(document?.id))?.chunks.join('\n');
	};

	beforeAll(async () => {
		const { store } = harness.sandbox;
		const model = { copilotId: COPILOT_ID, modelType: 'text-embedding', model: 'any' };
		store.copilotModels.set('nightly', model);
		const knowledgebase = { name: 'Nightly', copilotModelId: 'nightly' };
		knowledgebaseId = store.putKnowledgebase(knowledgebase).id;
		const credential = await harness.createCredential();
		workflowId = await harness.importWorkflow(nightlyWorkflow(knowledgebaseId), credential);
		await harness.activate(workflowId);
		write('All is quiet.');
	});
	afterEach(() => harness.sandbox.faults.clear());

	it('uploads, stores and processes every file in the first night', async () => {
		const { execution, uploaded } = await night();
		const files = execution.items('Read Files').length;
		expect(execution.error).toBeUndefined();
		expect(files).toBeGreaterThan(2);
		expect(uploaded).toBe(files);
		expect(execution.json('Stored')).toEqual(
			times(files, () => expect.objectContaining({ outcome: 'found', processing: 'finish' })),
		);
		expect(timesStored(stored())).toEqual({ once: files });
		expect(findable()).toContain('All is quiet.');
	});

	it('uploads only what changed in the second, has it found, and doubles nothing', async () => {
		const ids = map(stored(), 'id');
		write('The owl has come.');
		const { execution, uploaded } = await night();
		expect(uploaded).toBe(1);
		// n8n reads folders in any order; the documents come in that of their files.
		const names = map(execution.json('Stored'), 'name');
		expect(names).toEqual(map(execution.json('Read Files'), 'fileName'));
		expect(map(execution.json('Stored'), 'id').sort()).toEqual([...ids].sort());
		expect(countBy(execution.json('Stored'), 'outcome')).toEqual({
			found: 1,
			unchanged: ids.length - 1,
		});
		expect(map(stored(), 'id')).toEqual(ids);
		expect(findable()).toContain('The owl has come.');
		expect(findable()).not.toContain('All is quiet.');
	});

	const REFUSAL = {
		do: 'status',
		status: 422,
		body: { message: 'Not tonight', statusCode: 422 },
	} as const;
	const refused = expect.objectContaining({ error: 'The server answered 422: Not tonight' });

	it.each([
		['take', 'E16'],
		['store', 'E3'],
	] as const)(
		'puts a file the server does not %s on the error branch, and sends it the next night',
		async (does, endpoint) => {
			const text = `The server did not ${does} this.`;
			write(text);
			harness.sandbox.faults.add({ endpoint, ...REFUSAL });
			const { execution } = await night();
			expect(execution.json(NOT_DONE)).toEqual([refused]);
			expect(execution.json('Stored')).toHaveLength(execution.items('Read Files').length - 1);

			harness.sandbox.faults.clear();
			const { uploaded } = await night();
			expect(uploaded).toBe(1);
			expect(findable()).toContain(text);
		},
	);
});
