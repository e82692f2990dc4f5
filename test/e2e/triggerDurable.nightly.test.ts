import { setTimeout as sleep } from 'node:timers/promises';

import { waitFor } from '../../host/waitFor';
import { talk } from '../engine/support/conversations';
import { useHarness } from './support/harness';

/** n8n stores where a trigger stands with the execution it starts, in a table of its own (2.36 and later). */
const DURABLE_CURSORS = {
	N8N_SCHEDULER_ENABLED: 'true',
	N8N_SCHEDULER_POLL_TRIGGERS_ENABLED: 'true',
	N8N_USE_WORKFLOW_PUBLICATION_SERVICE: 'true',
	N8N_POLLER_DURABLE_CURSORS_ENABLED: 'true',
};

const FAILING_INPUT = 'BOOM';

/** n8n polls once a minute at most. */
const NEXT_POLL_MS = 120_000;

const harness = useHarness({ env: DURABLE_CURSORS });

const polls = () => harness.sandbox.requests.of('E5').length;

/** Waits until n8n has polled again by its schedule, and has stored what that leaves. */
async function untilPolled(): Promise<void> {
	await sleep(2_000);
	const before = polls();
	const polled = async () => polls() > before || undefined;
	await waitFor('the next poll', polled, { timeoutMs: NEXT_POLL_MS });
	await sleep(2_000);
}

describe('the trigger with durable poll cursors', () => {
	let workflowId: string;

	const titles = async () => {
		const ids = await harness.host.rest.listExecutions(workflowId);
		const executions = await Promise.all(ids.map(async (id) => await harness.execution(id)));
		const items = executions.flatMap((execution) => execution.json('When a Run Fails'));
		return items.map(({ title }) => String(title)).sort();
	};

	const untilGiven = async (count: number) =>
		await waitFor(
			`${count} changes`,
			async () => ((await titles()).length >= count ? await titles() : undefined),
			{ timeoutMs: NEXT_POLL_MS, everyMs: 500 },
		);

	beforeAll(async () => {
		await talk(harness.sandbox, FAILING_INPUT, { title: 'Long ago' });
		const credential = await harness.createCredential();
		workflowId = await harness.importWorkflow('alert-on-failed-runs.json', credential);
		await harness.activate(workflowId);
		// n8n does not keep what the poll at activation leaves: the first one of the schedule begins.
		await untilPolled();
	}, 3 * NEXT_POLL_MS);

	it('gives each change once', async () => {
		await talk(harness.sandbox, FAILING_INPUT, { title: 'First' });
		expect(await untilGiven(1)).toEqual(['First']);
		await untilPolled();
		expect(await titles()).toEqual(['First']);
	});

	it.each([
		['killed', async () => await harness.host.kill()],
		['stopped', async () => await harness.host.stop()],
	])('gives none twice and loses none when n8n is %s', async (how, end) => {
		const before = await titles();
		await end();
		await talk(harness.sandbox, FAILING_INPUT, { title: `While ${how}` });
		await harness.host.restart();
		expect(await untilGiven(before.length + 1)).toEqual([...before, `While ${how}`].sort());
		await untilPolled();
		expect(await titles()).toHaveLength(before.length + 1);
	});

	it('has its memory in the cursor of n8n, not in the data of the workflow', async () => {
		const { staticData } = (await harness.host.rest.getWorkflow(workflowId)) as {
			staticData?: unknown;
		};
		expect(staticData ?? null).toBeNull();
	});
});
