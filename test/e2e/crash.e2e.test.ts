import { times } from 'lodash';

import { waitFor } from '../../host/waitFor';
import {
	documentName,
	ingestion,
	SUBMIT_NODE,
	timesStored,
	webhookTrigger,
	writeDocuments,
} from '../queue/support/ingestion';
import { useHarness } from './support/harness';

const DOCUMENTS = 20_000;

const harness = useHarness({}, { logBodies: false });

describe('n8n killed in the middle of an ingestion', () => {
	let knowledgebaseId: string;
	let workflowId: string;

	const stored = () => harness.sandbox.store.documentsOf(knowledgebaseId);

	beforeAll(async () => {
		writeDocuments(harness.host.documents, DOCUMENTS);
		knowledgebaseId = harness.sandbox.store.putKnowledgebase({ name: 'Crashed' }).id;
		const credential = await harness.createCredential();
		const workflow = ingestion(webhookTrigger('bulk'), knowledgebaseId);
		workflowId = await harness.importWorkflow(workflow, credential);
		await harness.activate(workflowId);
	});

	it('has stored a part of the documents, each once, and shows the execution as crashed', async () => {
		harness.sandbox.faults.add({ endpoint: 'E3', do: 'delay', ms: 50 });
		await harness.callWebhook('bulk');
		const halfway = async () => stored().length >= DOCUMENTS / 3 || undefined;
		await waitFor('a third of the documents', halfway, { everyMs: 20 });
		await harness.host.kill();
		await harness.host.restart();

		expect(stored().length).toBeLessThan(DOCUMENTS);
		expect(timesStored(stored())).toEqual({ once: stored().length });
		expect((await harness.latestExecution(workflowId)).status).toBe('crashed');
	});

	it('has all of them after the next run, each once', async () => {
		harness.sandbox.faults.clear();
		const already = stored().length;
		expect(already).toBeGreaterThan(0);
		await harness.callWebhook('bulk');
		const all = async () => stored().length >= DOCUMENTS || undefined;
		await waitFor('all documents', all, { everyMs: 100 });

		const execution = await harness.latestExecution(workflowId);
		expect(execution.status).toBe('success');
		expect(execution.json(SUBMIT_NODE)).toEqual([
			expect.objectContaining({ documents: DOCUMENTS, stored: DOCUMENTS, failed: [] }),
		]);
		expect(stored()).toHaveLength(DOCUMENTS);
		expect(timesStored(stored())).toEqual({ once: DOCUMENTS });
		expect(new Set(stored().map(({ name }) => name))).toEqual(
			new Set(times(DOCUMENTS, documentName)),
		);
	});
});
