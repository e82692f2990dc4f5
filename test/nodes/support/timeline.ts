import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../../nodes/XpertAi/transport/clock';

const HOUR_MS = 3_600_000;

interface Event {
	at: number;
	work: () => void;
}

/** Time in which everything happens in its order, and that passes at once where nothing happens. */
export class Timeline {
	private readonly events: Event[] = [];

	private passed = 0;

	/** Milliseconds since the beginning. */
	get now(): number {
		return this.passed;
	}

	/** Has something happen in `ms`. */
	in(ms: number, work: () => void): void {
		this.events.push({ at: this.passed + ms, work });
		this.events.sort((one, other) => one.at - other.at);
	}

	/** Resolves in `ms`. */
	async wait(ms: number): Promise<void> {
		await new Promise<void>((resolve) => this.in(ms, resolve));
	}

	/**
	 * The clock of one process.
	 *
	 * @param ahead by how much it is ahead of others
	 */
	clock(ahead = 0): Clock {
		return {
			now: () => this.passed + ahead,
			monotonic: () => this.passed,
			random: () => 0.5,
			sleep: async (ms) => await this.wait(ms),
			later: (ms, work) => this.in(ms, work),
		};
	}

	/** Lets everything happen until the time has come. */
	async run(untilMs: number): Promise<void> {
		await nextTurn();
		for (let [next] = this.events; next && next.at <= untilMs; [next] = this.events) {
			this.events.shift();
			this.passed = next.at;
			next.work();
			// Whatever follows from it without time does so before the next.
			await nextTurn();
		}
		this.passed = Math.max(this.passed, untilMs);
	}

	/**
	 * Lets time pass until something has come of the work.
	 *
	 * @throws Error where an hour was not enough
	 */
	async of<Result>(work: Promise<Result>): Promise<Result> {
		const end = this.passed + HOUR_MS;
		let isDone = false;
		const note = () => void (isDone = true);
		work.then(note, note);
		await nextTurn();
		while (!isDone) {
			const [next] = this.events;
			if (!next || next.at > end) throw new Error('nothing comes of it');
			await this.run(next.at);
		}
		return await work;
	}
}
