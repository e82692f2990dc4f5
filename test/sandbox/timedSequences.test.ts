import { FakeClock, startSandbox, type FaultRule, type Sandbox } from '../../sandbox';
import { clientFor } from './support/client';
import { RECORDED_LATER } from './support/recordedServers';
import { sequences } from './support/recordings';
import { Player } from './support/sequences';
import { playInTime } from './support/timeline';

/** How long the runs of E4 took, one after another, where the recording says no times of answers. */
const RUNS: Record<string, Array<{ label: string; ms: number }>> = {
	'decision-watched-confirm': [
		{ label: 'a run that waits for a decision', ms: 4700 },
		{ label: 'confirm', ms: 8571 },
	],
	'decision-watched-reject': [
		{ label: 'a run that waits for a decision', ms: 7900 },
		{ label: 'reject', ms: 1118 },
	],
};

const RECORDINGS = ['decisions', 'decision-watched-confirm', 'decision-watched-reject'];

const BEGAN = Date.parse('2026-11-22T15:00:00.000Z');

describe.each(RECORDINGS)('the recording %s', (name) => {
	let sandbox: Sandbox;

	afterEach(() => sandbox.close());

	it.each([...sequences(name)])('is replayed in time: %s', async (_title, exchanges) => {
		const clock = new FakeClock(BEGAN);
		sandbox = await startSandbox({ ...RECORDED_LATER, clock });
		const runs = RUNS[name] ?? [];
		const faults = runs.map(
			({ ms }, n): FaultRule => ({ endpoint: 'E4', nth: n + 1, do: 'run', ms }),
		);
		sandbox.faults.add(...faults);
		const timed = exchanges.map((one) => ({
			...one,
			tookMs: one.tookMs ?? runs.find(({ label }) => label === one.label)?.ms,
		}));
		await playInTime(new Player(timed, sandbox, clientFor(sandbox), clock));
	});
});
