import { waitFor } from '../../host/waitFor';
import { INTERRUPTING_INPUT } from '../../sandbox';
import { talk } from '../engine/support/conversations';
import { useSharedHarness } from './support/harness';

const harness = useSharedHarness();

/** n8n polls once a minute at most. */
const NEXT_POLL_MS = 90_000;

const FAILING_INPUT = 'BOOM';

const polls = () => harness.sandbox.requests.of('E5').length;
const executions = async (workflowId: string) => await harness.host.rest.listExecutions(workflowId);

/** Switches a workflow on, waits for the poll that n8n makes then, and the first time for what that leaves. */
async function activate(workflowId: string): Promise<void> {
	const before = polls();
	await harness.activate(workflowId);
	await waitFor('the first poll', async () => polls() > before || undefined);
	const { rest } = harness.host;
	const stored = async () => (await rest.getWorkflow(workflowId)).staticData ?? undefined;
	await waitFor('what the poll leaves', stored);
}

async function deactivate(workflowId: string): Promise<void> {
	await harness.host.rest.deactivateWorkflow(workflowId);
}

/** Resolves with the executions of a workflow once there are so many. */
async function untilStarted(workflowId: string, count: number): Promise<string[]> {
	return await waitFor(
		`${count} executions`,
		async () => {
			const ids = await executions(workflowId);
			return ids.length >= count ? ids : undefined;
		},
		{ timeoutMs: NEXT_POLL_MS },
	);
}

describe('the example "alert on failed runs" in n8n', () => {
	let workflowId: string;

	const alerts = async (executionId = '') => {
		const execution = await harness.execution(executionId);
		return execution.json('Send Message Here').map(({ text }) => text);
	};

	beforeAll(async () => {
		await talk(harness.sandbox, FAILING_INPUT, { title: 'Long ago' });
		const credential = await harness.createCredential();
		workflowId = await harness.importWorkflow('alert-on-failed-runs.json', credential);
		await activate(workflowId);
	});

	it('starts at the next poll when a run has failed, and only then', async () => {
		await talk(harness.sandbox, 'Hello', { title: 'Fine' });
		await talk(harness.sandbox, FAILING_INPUT, { title: 'Broken' });
		const [execution] = await untilStarted(workflowId, 1);
		expect(await alerts(execution)).toEqual([
			expect.stringMatching(/^"Broken" failed: The model failed: BOOM \(thread [0-9a-f-]{36}\)$/),
		]);
	});

	it('gives nothing twice after it was switched off and on, and nothing is lost meanwhile', async () => {
		await deactivate(workflowId);
		await activate(workflowId);
		await deactivate(workflowId);
		expect(await executions(workflowId)).toHaveLength(1);

		await talk(harness.sandbox, FAILING_INPUT, { title: 'Meanwhile' });
		await activate(workflowId);
		const [execution] = await untilStarted(workflowId, 2);
		expect(await alerts(execution)).toEqual([expect.stringContaining('"Meanwhile" failed')]);
		expect(await executions(workflowId)).toHaveLength(2);
	});

	it('shows the newest failed run when it is tested by hand', async () => {
		const execution = await harness.runManually(workflowId, 'When a Run Fails');
		expect(execution.json('When a Run Fails')).toEqual([
			expect.objectContaining({ event: 'failed', title: 'Meanwhile' }),
		]);
	});
});

describe('the example "long runs" in n8n', () => {
	it('starts a run and ends; the trigger goes on when the run has ended', async () => {
		const credential = await harness.createCredential();
		const workflowId = await harness.importWorkflow('long-runs.json', credential);
		await activate(workflowId);
		harness.sandbox.faults.add({ endpoint: 'runs', do: 'run', ms: 2_000 });
		const started = await harness.runManually(workflowId, 'Every Morning');
		harness.sandbox.faults.clear();
		expect(started.json('Start Run')).toMatchObject([{ status: 'running' }]);
		await deactivate(workflowId);
		const run = harness.sandbox.store.runs.at(-1);
		await waitFor('the end of the run', async () => run?.status === 'success' || undefined);
		await activate(workflowId);
		const own = async () => (await executions(workflowId)).filter((id) => id !== started.id);
		const ended = await waitFor('the trigger', async () => (await own())[0]);
		const [message] = (await harness.execution(ended)).json('Send Message Here');
		expect(message?.text).toMatch(/^Report of \d{4}-\d\d-\d\d: \w/);
		await deactivate(workflowId);
	});
});

describe('the example "approve in the loop" in n8n', () => {
	let workflowId: string;

	beforeAll(async () => {
		const credential = await harness.createCredential();
		workflowId = await harness.importWorkflow('approve-in-the-loop.json', credential);
		await activate(workflowId);
	});

	it('asks a person when a run waits, in words, and carries out what waits', async () => {
		await deactivate(workflowId);
		const question = `${INTERRUPTING_INPUT} whether to delete the file`;
		await talk(harness.sandbox, question, { title: 'Housekeeping' });
		await activate(workflowId);
		const [id = ''] = await untilStarted(workflowId, 1);
		const waiting = await harness.execution(id);
		expect(waiting.status).toBe('waiting');
		const [{ text, form: address } = {}] = waiting.json('Question');
		expect(text).toMatch(/^"Housekeeping" waits for you\.\nMay it call .+\?\ninput: ASK A PERSON/);

		const form = new FormData();
		form.set('field-0', 'confirm');
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
