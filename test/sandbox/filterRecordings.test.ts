import { FakeClock, startSandbox, type Sandbox } from '../../sandbox';
import { clientFor } from './support/client';
import { arrangeFiltered, RECORDED_FILTERED } from './support/filteredServer';
import { sequences } from './support/recordings';
import { Player } from './support/sequences';
import { Substitution } from './support/substitution';
import { playInTime } from './support/timeline';

const BEGAN = Date.parse('2026-11-25T14:00:00.000Z');

const RECORDINGS = [
	'knowledge-filter',
	'knowledge-filter-2',
	'knowledge-filter-3',
	'knowledge-filter-4',
	'knowledge-filter-5',
	'knowledge-filter-6',
	'filters-retry',
	'filters-retry-2',
	'filters-confirm',
	'filters-state-env',
	'folder-rows-keys',
	'folder-moves',
	'folder-moves-found',
	'folder-same-again',
];

describe.each(RECORDINGS)('the recording %s', (name) => {
	const played = sequences(name);
	const clock = new FakeClock(BEGAN);
	let sandbox: Sandbox;
	let substitution: Substitution;

	beforeAll(async () => {
		sandbox = await startSandbox({ ...RECORDED_FILTERED, runMs: 100, processMs: 300, clock });
		substitution = new Substitution(sandbox.url);
		arrangeFiltered(sandbox, [...played.values()].flat());
	});
	afterAll(() => sandbox.close());

	it.each([...played])('is replayed in order: %s', async (_title, exchanges) => {
		await playInTime(
			new Player(exchanges, sandbox, clientFor(sandbox), clock, undefined, substitution),
		);
	});
});
