import { GCProfiler } from 'node:v8';

/** Memory over the time of a piece of work, in bytes. */
export interface MemoryCurve {
	/** Resident memory, at equal distances of time. */
	rss: number[];
	/** What was left in the heap after each full collection. */
	live: number[];
	rssBefore: number;
	peakRss: number;
	peakHeap: number;
}

/** A result and what it took. */
export interface Watched<Result> {
	result: Result;
	seconds: number;
	/** Processor time of this process. */
	cpuSeconds: number;
	memory: MemoryCurve;
}

const FULL_COLLECTION = /MarkSweepCompact/;

/** Watches the memory and the processor time of this process while a piece of work is done. */
export async function watchMemory<Result>(
	work: () => Promise<Result>,
	everyMs: number,
): Promise<Watched<Result>> {
	const rss: number[] = [];
	let peakHeap = 0;
	const sample = () => {
		const now = process.memoryUsage();
		rss.push(now.rss);
		peakHeap = Math.max(peakHeap, now.heapUsed);
	};
	const profiler = new GCProfiler();
	sample();
	profiler.start();
	const started = performance.now();
	const cpuBefore = process.cpuUsage();
	const timer = setInterval(sample, everyMs);
	try {
		const result = await work();
		const seconds = (performance.now() - started) / 1000;
		const { user, system } = process.cpuUsage(cpuBefore);
		sample();
		const live = profiler
			.stop()
			.statistics.filter(({ gcType }) => FULL_COLLECTION.test(gcType))
			.map(({ afterGC }) => afterGC.heapStatistics.usedHeapSize);
		const [rssBefore = 0] = rss;
		const memory = { rss, live, rssBefore, peakRss: highest(rss), peakHeap };
		return { result, seconds, cpuSeconds: (user + system) / 1e6, memory };
	} finally {
		clearInterval(timer);
	}
}

/** The highest of very many numbers. */
export const highest = (values: number[]): number =>
	values.reduce((most, value) => Math.max(most, value), 0);

/** Collects all garbage; Node has to be started with `--expose-gc`. */
export function collectGarbage(): void {
	if (typeof gc !== 'function') throw new Error('Node was started without --expose-gc');
	gc();
}
