import { secondsLeft } from './schedule';
import type { Step } from './schedule';

const HEARTBEAT_MS = 15_000;

/** Says how far a benchmark is. */
export class Progress {
	private readonly startedAt = performance.now();
	private readonly done = { expected: 0, real: 0 };

	constructor(private readonly steps: Step[]) {}

	/** Does a step, and says before and after it where the whole stands. */
	async during<Result>(
		index: number,
		work: () => Promise<Result>,
		words: (result: Result) => string,
	): Promise<Result> {
		const step = this.steps[index];
		if (!step) throw new Error(`There is no step ${index}`);
		const { part, entry, round, rounds } = step;
		const begun = performance.now();
		const name = `${part}, round ${round} of ${rounds}: ${entry.name}`;
		this.say(index, name);
		const heartbeat = setInterval(
			() => this.say(index, `${name} … ${Math.round((performance.now() - begun) / 1000)} s`),
			HEARTBEAT_MS,
		);
		try {
			const result = await work();
			console.log(`        ${words(result)}`);
			return result;
		} finally {
			clearInterval(heartbeat);
			this.done.expected += entry.seconds;
			this.done.real += (performance.now() - begun) / 1000;
		}
	}

	private say(index: number, words: string): void {
		const left = secondsLeft(this.steps.slice(index), this.done);
		const spent = (performance.now() - this.startedAt) / 1000;
		const share = Math.floor((100 * spent) / (spent + left));
		console.log(
			`[${String(index === 0 ? 0 : share).padStart(3)} %, about ${minutes(left)} left] ${words}`,
		);
	}
}

/** Seconds as minutes and seconds. */
export const minutes = (seconds: number): string =>
	`${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')} min`;
