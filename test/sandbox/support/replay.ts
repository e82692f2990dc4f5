import { FakeClock, startSandbox } from '../../../sandbox';
import { Player } from './player';
import { replayed } from './recordings';
import { copilots, RECORDED, WORKSPACE } from './servers';
import { Substitution } from './substitution';

const BEGAN = Date.parse('2026-11-25T15:00:00.000Z');

/** Replays recordings: what the node reads of each answer is what it would have read then. */
export function replays(recordings: string[]): void {
	describe.each(recordings)('the recording %s', (name) => {
		const { options, isOneServer, played } = replayed(name);

		async function play(sequences: typeof played) {
			const clock = new FakeClock(BEGAN);
			const sandbox = await startSandbox({ ...RECORDED, ...options, clock });
			copilots.forEach((id) => sandbox.store.copilots.add(id));
			sandbox.store.workspaces.add(WORKSPACE);
			const substitution = new Substitution(sandbox.url);
			try {
				for (const [, one] of sequences) {
					await new Player(one, sandbox, clock, substitution).play();
				}
			} finally {
				await sandbox.close();
			}
		}
		if (isOneServer) it('is replayed', async () => await play(played));
		else it.each(played)('is replayed: %s', async (...one) => await play([one]));
	});
}
