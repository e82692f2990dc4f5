import type { INodeParameters } from 'n8n-workflow';
import { range } from 'lodash';

import type { FaultRule } from '../../sandbox';
import { useFixture } from './support/fixture';
import { byId } from './support/locators';
import { ask, detailsOf, says } from './support/runs';

const fixture = useFixture();

/** Waits for a run of the world that goes on for long, which cannot be joined. */
async function waitFor(deadlineMinutes: number, nth: number[]) {
	fixture.sandbox.faults.add(
		{ endpoint: 'join', do: 'status', status: 502, body: 'down' },
		{ endpoint: 'run', nth, do: 'status', status: 503, body: 'down' },
	);
	const { busyThreadId, busyRunId } = fixture.world;
	const parameters: INodeParameters = {
		...{ resource: 'thread', operation: 'waitForRun', threadId: byId(busyThreadId) },
		...{ runId: busyRunId, options: { deadlineMinutes } },
	};
	const { outputs } = await fixture.run(parameters, { onError: 'continueErrorOutput' });
	return outputs[1]?.[0];
}

describe('a run that cannot be read', () => {
	it('is given up after a minute where it never could: the server may be wrong', async () => {
		const failed = await waitFor(5, range(2, 1_000));
		expect(failed?.json.error).toBe('The server answered 503: down');
		expect(detailsOf(failed).status).toBe('failed');
	});

	it('is waited for until the deadline where it was there, and looked at ever more rarely', async () => {
		const failed = await waitFor(2, range(5, 1_000));
		expect(failed?.json.error).toBe('The run was still going on when the deadline came');
		expect(detailsOf(failed).status).toBe('timedOut');
		expect(fixture.sandbox.requests.of('join').length).toBeLessThan(20);
	});
});

it('a run whose conversation cannot be read for minutes is not given up: its record was read', async () => {
	fixture.sandbox.faults.add({ endpoint: 'join', do: 'status', status: 502, body: 'down' });
	const start = ask({ operation: 'start', threadSource: 'new' });
	const { items } = await fixture.run(start, { items: [says('', 'Hello')] });
	const { threadId, runId } = items[0]?.json ?? {};
	const fault: FaultRule = { endpoint: 'E5', do: 'status', status: 503, body: 'down' };
	fixture.sandbox.faults.add({ ...fault, nth: range(1, 31) });
	const parameters: INodeParameters = {
		...{ resource: 'thread', operation: 'waitForRun', threadId: byId(String(threadId)) },
		...{ runId: String(runId), options: { deadlineMinutes: 10 } },
	};
	const waited = await fixture.run(parameters);
	expect(waited.items[0]?.json).toMatchObject({ output: 'Echo: Hello', status: 'completed' });
});

it('a message whose run cannot be read comes out with the reason, though its stream is silent', async () => {
	fixture.sandbox.faults.add(
		{ endpoint: 'join', do: 'delay', ms: 600_000 },
		{ endpoint: 'run', do: 'status', status: 403, body: 'no' },
	);
	const items = [says('', 'Hello')];
	const { error } = await fixture.run(ask({ threadSource: 'new' }), { items });
	expect(error?.message).toBe('The server answered 403: no');
	expect(fixture.sandbox.requests.of('join')).toHaveLength(1);
});

it('a stream that is refused is not asked for again', async () => {
	fixture.sandbox.faults.add(
		{ endpoint: 'join', do: 'status', status: 403, body: 'no' },
		{ endpoint: 'runs', do: 'run', ms: 300 },
	);
	const items = [says('', 'Hello')];
	const { items: out } = await fixture.run(ask({ threadSource: 'new' }), { items });
	expect(out[0]?.json).toMatchObject({ output: 'Echo: Hello', recovered: true });
	expect(fixture.sandbox.requests.of('join')).toHaveLength(1);
});

it('a thread whose runs were never listed is given up after a minute, and nothing is said on it', async () => {
	fixture.sandbox.faults.add({ endpoint: 'listRuns', do: 'status', status: 503, body: 'down' });
	const options = { deadlineMinutes: 10 };
	const { error } = await fixture.run(ask({ options }), { items: [says('t', 'Hello')] });
	expect(error?.message).toBe('The server answered 503: down');
	expect(fixture.sandbox.requests.of('listRuns').length).toBeLessThan(40);
	expect(fixture.sandbox.requests.of('runs')).toEqual([]);
});
