/** How fast a server is with so many requests at work, where one request alone is 1. */
export type Speed = (requests: number) => number;

/** Time as it passes, and something done later in it. */
export interface Timer {
	now: () => number;
	/** Does something once so many milliseconds have passed; gives what takes that back. */
	after: (ms: number, work: () => void) => () => void;
}

interface Job {
	left: number;
	done: () => void;
}

/**
 * The time of a server that all requests at work share alike: a request takes as long as its own work when it
 * is alone, and longer beside others, by how fast the server is with so many.
 */
export class WorkShare {
	private readonly jobs = new Set<Job>();
	private since: number;
	private takeBack?: () => void;

	constructor(
		private readonly speed: Speed,
		private readonly timer: Timer,
	) {
		this.since = timer.now();
	}

	/** Resolves when so many milliseconds of work are done. */
	async work(ms: number): Promise<void> {
		await new Promise<void>((done) => {
			this.passTime();
			this.jobs.add({ left: ms, done });
			this.lookAhead();
		});
	}

	/** How much of its work a job gets done in a millisecond. */
	private get pace(): number {
		return this.speed(this.jobs.size) / this.jobs.size;
	}

	private passTime(): void {
		const now = this.timer.now();
		const worked = (now - this.since) * this.pace;
		this.since = now;
		for (const job of this.jobs) job.left -= worked;
	}

	private lookAhead(): void {
		this.takeBack?.();
		this.takeBack = undefined;
		if (this.jobs.size === 0) return;
		const next = Math.min(...[...this.jobs].map(({ left }) => left));
		this.takeBack = this.timer.after(Math.max(0, next) / this.pace, () => this.finish());
	}

	private finish(): void {
		this.passTime();
		for (const job of [...this.jobs].filter(({ left }) => left <= TOLERANCE_MS)) {
			this.jobs.delete(job);
			job.done();
		}
		this.lookAhead();
	}
}

/** Timers fire up to a millisecond early. */
const TOLERANCE_MS = 1;

/**
 * As the real server was measured with 500 documents (13.6 ms each alone, 11.4 three at once, 9.6 five at once;
 * ten at once in small requests, 12.4 with the cost of those requests, which leaves the speed of three).
 */
const MEASURED: Array<[requests: number, speed: number]> = [
	[1, 1],
	[3, 6.8 / 5.7],
	[5, 6.8 / 4.8],
	[10, 6.8 / 5.7],
];

/** The speed of the measured server, in straight lines between what was measured. */
export const measuredSpeed: Speed = (requests) => {
	const above = MEASURED.findIndex(([at]) => requests <= at);
	const [to, fast] = MEASURED.at(above) ?? [1, 1];
	if (above <= 0) return fast;
	const [from, slow] = MEASURED[above - 1] ?? [to, fast];
	return slow + ((fast - slow) * (requests - from)) / (to - from);
};
