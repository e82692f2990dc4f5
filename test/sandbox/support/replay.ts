import { FakeClock, startSandbox } from '../../../sandbox';
import { arrange, optionsOf } from './arranged';
import { asPlayed } from './happenings';
import { Player } from './player';
import { sequences } from './recordings';
import { RECORDED } from './servers';
import { Substitution } from './substitution';

const BEGAN = Date.parse('2026-11-25T15:00:00.000Z');

/** The sequences of these go on where the one before has ended, on one server. */
const ON_ONE = /^(?:knowledge-filter|filters-|folder-)/;

/** Replays recordings: what the node reads of each answer is what it would have read then. */
export function replays(recordings: string[]): void {
	describe.each(recordings)('the recording %s', (name) => {
		const all = [...sequences(name)].map(([title, one]) => [title, asPlayed(one), one] as const);
		const played = all.filter(([, one]) => one.length > 0);

		if (!ON_ONE.test(name)) {
			it.each(played)('is replayed: %s', async (_title, exchanges, recorded) => {
				const clock = new FakeClock(BEGAN);
				const sandbox = await startSandbox({ ...RECORDED, ...optionsOf(name), clock });
				try {
					arrange(sandbox, recorded);
					await new Player(exchanges, sandbox, clock).play();
				} finally {
					await sandbox.close();
				}
			});
			return;
		}
		it('is replayed', async () => {
			const clock = new FakeClock(BEGAN);
			const sandbox = await startSandbox({ ...RECORDED, ...optionsOf(name), clock });
			const substitution = new Substitution(sandbox.url);
			try {
				arrange(
					sandbox,
					all.flatMap(([, , one]) => one),
				);
				for (const [, one] of played) await new Player(one, sandbox, clock, substitution).play();
			} finally {
				await sandbox.close();
			}
		});
	});
}
