import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { countBy } from 'lodash';

import type { WorkflowFile } from '../../host/examples';
import { filledIn, sandboxValues } from '../../host/exampleValues';
import { waitFor } from '../../host/waitFor';
import { COPILOT_ID } from '../../sandbox';
import { answerOf } from '../engine/support/conversations';
import { isNote } from '../engine/support/ingest';
import { exampleOnCall } from './support/examples';
import { useHarness } from './support/harness';

const harness = useHarness();
const FOLDER = 'in-step';

/** The example over a folder of its own, with what is gone taken out of answers. */
function inStep(knowledgebaseId: string): WorkflowFile {
	const example = exampleOnCall('nightly-ingestion.json', 'Every Night', 'in-step');
	const folder = `${sandboxValues('').folder}/${FOLDER}`;
	const workflow = filledIn(example, { ...sandboxValues(''), knowledgebaseId, folder });
	const submit = workflow.nodes.find(({ name }) => name === 'Submit Documents');
	Object.assign(submit?.parameters ?? {}, {
		mode: 'mirror',
		options: { batchSize: 1, maxGonePercent: 50 },
	});
	return workflow;
}

describe('a folder that a knowledgebase is kept in step with, in n8n', () => {
	let knowledgebaseId: string;
	let workflowId: string;

	const place = (name: string) => path.join(harness.host.documents, FOLDER, `${name}.md`);
	const write = (name: string, text: string) =>
		writeFileSync(place(name), `# ${name}\n\n${text}\n`);
	const night = async () => {
		harness.sandbox.requests.clear();
		await harness.callWebhook('in-step');
		const execution = await harness.latestExecution(workflowId);
		expect(execution.error).toBeUndefined();
		return countBy(execution.json('Stored'), 'outcome');
	};
	const stored = () =>
		harness.sandbox.store.documentsOf(knowledgebaseId).filter((document) => !isNote(document));
	const answer = async (question: string) => await answerOf(harness.sandbox, question);

	beforeAll(async () => {
		const { store } = harness.sandbox;
		knowledgebaseId = store.putKnowledgebase({ name: 'In step', copilotModelId: COPILOT_ID }).id;
		mkdirSync(path.join(harness.host.documents, FOLDER));
		write('Owls', 'The owl sleeps in the barn.');
		write('Bats', 'The bat sleeps in the tower.');
		write('Foxes', 'The fox sleeps in the den.');
		const credential = await harness.createCredential();
		workflowId = await harness.importWorkflow(inStep(knowledgebaseId), credential);
		await harness.activate(workflowId);
	});

	it('stores all of it in the first night', async () => {
		expect(await night()).toEqual({ found: 3 });
		expect(await answer('Where does the bat sleep?')).toContain('in the tower');
		expect(await answer('Where does the fox sleep?')).toContain('in the den');
	});

	it('is killed in the second, and then does what is left of it: changed, new, gone', async () => {
		rmSync(place('Bats'));
		write('Foxes', 'The fox sleeps under the oak.');
		write('Hares', 'The hare sleeps in the field.');
		harness.sandbox.faults.add({ endpoint: 'E3', do: 'delay', ms: 400, when: 'after' });
		harness.sandbox.requests.clear();
		// The answer comes from a node that is never reached.
		void harness.callWebhook('in-step').catch(() => undefined);
		const halfway = async () => harness.sandbox.requests.of('E3').length >= 4 || undefined;
		await waitFor('the first batch', halfway, { everyMs: 10 });
		await harness.host.kill();
		harness.sandbox.faults.clear();
		await harness.host.restart();
		expect((await harness.latestExecution(workflowId)).status).toBe('crashed');
		expect(await answer('Where does the bat sleep?')).toContain('in the tower');

		expect(await night()).toEqual({ unchanged: 1, found: 2, disabled: 1 });
		expect(await answer('Where does the bat sleep?')).not.toContain('tower');
		expect(await answer('Where does the fox sleep?')).toContain('under the oak');
		expect(await answer('Where does the hare sleep?')).toContain('in the field');
	});

	it('has what is restored found again in the third, and sends nothing else', async () => {
		write('Bats', 'The bat sleeps in the tower.');
		expect(await night()).toEqual({ unchanged: 3, found: 1 });
		expect(await answer('Where does the bat sleep?')).toContain('in the tower');
		expect(stored()).toHaveLength(4);
		expect(await night()).toEqual({ unchanged: 4 });
	});

	it('has a file that the server does not take on the error branch, and sends it the next night', async () => {
		write('Owls', 'The owl sleeps in the church.');
		const body = { message: 'Not tonight', statusCode: 422 };
		harness.sandbox.faults.add({ endpoint: 'E16', do: 'status', status: 422, body });
		await harness.callWebhook('in-step');
		const execution = await harness.latestExecution(workflowId);
		harness.sandbox.faults.clear();
		expect(execution.json('Not Stored or Not Processed')).toMatchObject([
			{ error: 'The server answered 422: Not tonight' },
		]);
		expect(await night()).toEqual({ unchanged: 3, found: 1 });
		expect(await answer('Where does the owl sleep?')).toContain('in the church');
	});
});
