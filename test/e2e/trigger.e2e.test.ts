import { waitFor } from 'host/waitFor';
import { INTERRUPTING_INPUT } from 'sandbox';
import { talk } from '../engine/support/conversations';
import { useSharedHarness } from './support/harness';

const harness = useSharedHarness();

const executions = async (workflowId: string) => await harness.host.rest.listExecutions(workflowId);
const firstExecution = async (workflowId: string) =>
	await waitFor('the trigger', async () => (await executions(workflowId))[0]);
const deactivate = async (workflowId: string) =>
	await harness.host.rest.deactivateWorkflow(workflowId);

async function polling(example: string): Promise<string> {
	const workflowId = await harness.importWorkflow(example, await harness.createCredential());
	await harness.startPolling(workflowId);
	return workflowId;
}

describe('the example "alert on failed runs" in n8n', () => {
	it('starts at the next poll when a run has failed, and only then', async () => {
		await talk(harness.sandbox, 'BOOM', { title: 'Long ago' });
		const workflowId = await polling('alert-on-failed-runs.json');
		await talk(harness.sandbox, 'Hello', { title: 'Fine' });
		await talk(harness.sandbox, 'BOOM', { title: 'Broken' });
		const execution = await harness.execution(await firstExecution(workflowId));
		const text = expect.stringMatching(
			/^"Broken" failed: The model failed: BOOM \(thread [0-9a-f-]{36}\)$/,
		);
		expect(execution.json('Send Message Here').map((sent) => sent.text)).toEqual([text]);
	});
});

describe('the example "long runs" in n8n', () => {
	it('starts a run and ends; the trigger goes on when the run has ended', async () => {
		const workflowId = await polling('long-runs.json');
		harness.sandbox.faults.add({ endpoint: 'runs', do: 'run', ms: 2_000 });
		const started = await harness.runManually(workflowId, 'Every Morning');
		harness.sandbox.faults.clear();
		expect(started.json('Start Run')).toMatchObject([{ status: 'running' }]);
		await deactivate(workflowId);
		const run = harness.sandbox.store.runs.at(-1);
		await waitFor('the end of the run', async () => run?.status === 'success' || undefined);
		await harness.startPolling(workflowId);
		const own = async () => (await executions(workflowId)).filter((id) => id !== started.id);
		const ended = await waitFor('the trigger', async () => (await own())[0]);
		const [message] = (await harness.execution(ended)).json('Send Message Here');
		expect(message?.text).toMatch(/^Report of \d{4}-\d\d-\d\d: \w/);
		await deactivate(workflowId);
	});
});

describe('the example "approve in the loop" in n8n', () => {
	it('asks a person when a run waits, in words, and carries out what waits', async () => {
		const workflowId = await polling('approve-in-the-loop.json');
		await deactivate(workflowId);
		const question = `${INTERRUPTING_INPUT} whether to delete the file`;
		await talk(harness.sandbox, question, { title: 'Housekeeping' });
		await harness.startPolling(workflowId);
		const id = await firstExecution(workflowId);
		const waiting = await harness.execution(id);
		expect(waiting.status).toBe('waiting');
		const [{ text, form: address } = {}] = waiting.json('Question');
		expect(text).toMatch(/^"Housekeeping" waits for you\.\nMay it call .+\?\ninput: ASK A PERSON/);

		const form = new FormData();
		form.set('field-0', 'Confirm');
		const sent = await fetch(String(address), { method: 'POST', body: form });
		expect(sent.status).toBe(200);
		const ended = await waitFor('the end', async () => {
			const execution = await harness.execution(id);
			return execution.status === 'waiting' ? undefined : execution;
		});
		expect(ended.json('Send Answer Here')).toEqual([
			expect.objectContaining({
				status: 'completed',
				output: expect.stringContaining(`Confirmed: ${question}`),
			}),
		]);
	});
});
