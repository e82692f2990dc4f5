import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';

/** Time as the sandbox sees it; tests may pass a fake one. `now` is in milliseconds since 1970. */
export interface Clock {
	now(): number;
	sleep(ms: number): Promise<void>;
}

/** The machine's own time. Its sleeps are unreferenced, so a long run never holds up a closed sandbox. */
export const systemClock: Clock = {
	now: () => Date.now(),
	sleep: async (ms) => {
		await wait(ms, undefined, { ref: false });
	},
};

/** Turns of the event loop given to those woken, so that they can go to sleep again. */
const TURNS = 5;

/** Gives others their turns, as long as that is wanted: sockets need some, and no time. */
export async function turnsWhile(isWanted: () => boolean, most: number): Promise<void> {
	for (let turn = 0; turn < most && isWanted(); turn += 1) await nextTurn();
}

/** Time that stands still until a test moves it on. */
export class FakeClock implements Clock {
	private readonly sleepers = new Set<{ at: number; wake: () => void }>();

	constructor(private time = Date.UTC(2026, 0, 1)) {}

	now(): number {
		return this.time;
	}

	async sleep(ms: number): Promise<void> {
		if (ms <= 0) return;
		await new Promise<void>((wake) => this.sleepers.add({ at: this.time + ms, wake }));
	}

	/** How many sleep at the moment. */
	get sleeping(): number {
		return this.sleepers.size;
	}

	/** Moves time on, waking each sleeper at its moment, one after another. */
	async advance(ms: number): Promise<void> {
		const target = this.time + ms;
		for (;;) {
			const due = [...this.sleepers].filter(({ at }) => at <= target);
			const [next] = due.sort((one, other) => one.at - other.at);
			if (next === undefined) break;
			this.sleepers.delete(next);
			this.time = Math.max(this.time, next.at);
			next.wake();
			await turnsWhile(() => true, TURNS);
		}
		this.time = target;
	}
}

/** The clock's present moment the way the API writes it (ISO 8601, UTC, milliseconds). */
export const timestamp = (clock: Clock): string => new Date(clock.now()).toISOString();
