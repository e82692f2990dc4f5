import { OPERATIONS } from '../nodes/support/properties';
import { builtModule } from './support/builtModule';
import { createEngine } from './support/engine';
import { FAULTS } from './support/faultMatrixFaults';
import { NODE_KINDS } from './support/faultMatrixOperations';
import { outcomeOf, promiseOf } from './support/faultMatrixOutcomes';
import { placesOf, watchConsole } from './support/faultMatrixSecrets';
import { startFaultServer } from './support/faultMatrixServer';
import type { FaultServer } from './support/faultMatrixServer';
import { MARK, runTrials } from './support/faultMatrixTrials';
import type { Trial } from './support/faultMatrixTrials';

/** What the built node says of uploads. */
type Uploads = Record<'UPLOAD_TIMEOUT_SECONDS', number>;

/** Submit gives an upload ten minutes at least; here no longer than Timeout says. */
function shortenUploads(): void {
	const uploads = builtModule<Uploads>('nodes/XpertAi/operations/shared/fields.js');
	jest.replaceProperty(uploads, 'UPLOAD_TIMEOUT_SECONDS', 0);
}

/** How long all trials may take, on a busy machine. */
const LONGEST_MS = 15 * 60_000;

describe('the fault matrix', () => {
	let server: FaultServer;
	let trials: Trial[];
	let printed: string;

	beforeAll(async () => {
		const output = watchConsole();
		try {
			const engine = await createEngine();
			shortenUploads();
			server = await startFaultServer(MARK);
			trials = await runTrials(engine, server);
		} finally {
			printed = output.stop();
		}
	}, LONGEST_MS);
	afterAll(() => {
		jest.restoreAllMocks();
		server?.close();
	});

	it('tries every operation of the catalogue with every fault', () => {
		const names = new Set(trials.map(({ cell }) => cell.operation.name));
		// Submit is tried with IDs, with files and with its memory; a run without and with files, and what
		// Decide and Answer Again send is sent by Ask and Wait. What looks first is tried at that as well.
		const looking = OPERATIONS.filter(({ operation }) => 'precheck' in operation);
		expect(names.size).toBe(OPERATIONS.length + 3 - 2 + looking.length);
		// Each with faults that last and faults that pass, and both ways of going on.
		expect(trials).toHaveLength(names.size * FAULTS.length * 2 * 2);
	});

	describe.each(NODE_KINDS)('%s', (kind) => {
		it.each(FAULTS)('$title: as the table says', (fault) => {
			const cells = trials.filter(
				({ cell }) => cell.fault === fault && cell.operation.kind === kind,
			);
			expect(cells.length).toBeGreaterThan(0);
			expect(cells.map(outcomeOf)).toEqual(cells.map(promiseOf));
		});
	});

	it('waits as long as Retry-After asks for', () => {
		const gaps = trials
			.filter(({ cell }) => cell.fault.title.includes('Retry-After in seconds'))
			// What is remembered is read in several requests. Near the deadline of what follows a run, a look may time out
			// before this busy process has answered it: a unit test holds what is promised there.
			.filter(({ cell: { operation, lasting } }) =>
				operation.kind === 'follow' ? !lasting : operation.kind !== 'memory',
			)
			.flatMap(({ cell: { times } }) => times.slice(1).map((time, n) => time - (times[n] ?? 0)));
		expect(gaps.length).toBeGreaterThan(0);
		// Timers and clocks differ by a millisecond or two.
		for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(990);
	});

	it('shows the token in no result, no error and nothing printed', () => {
		const leaks = trials.flatMap(({ cell, result }) =>
			placesOf(MARK, result).map(
				(place) => `${cell.operation.name}, ${cell.fault.title}: ${place}`,
			),
		);
		expect(leaks).toEqual([]);
		expect(printed).not.toContain(MARK);
	});
});
