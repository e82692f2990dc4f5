import { PerformanceObserver, constants } from 'node:perf_hooks';
import type { PerformanceEntry } from 'node:perf_hooks';

/** Memory of this process at one moment, in bytes. */
export interface MemorySample {
	rss: number;
	heap: number;
}

/** Memory over the time of a piece of work. */
export interface MemoryCurve {
	samples: MemorySample[];
	/** Before the work began. */
	rssBefore: number;
	peakRss: number;
	peakHeap: number;
	/** The most that was left after a full garbage collection; missing when there was none. */
	peakLive?: number;
}

/** A result and what it took. */
export interface Watched<Result> {
	result: Result;
	seconds: number;
	/** Processor time of this process. */
	cpuSeconds: number;
	memory: MemoryCurve;
}

/** Watches the memory and the processor time of this process while a piece of work is done. */
export async function watchMemory<Result>(
	work: () => Promise<Result>,
	everyMs: number,
): Promise<Watched<Result>> {
	const started = performance.now();
	const samples: MemorySample[] = [];
	const sample = () => {
		const { rss, heapUsed } = process.memoryUsage();
		samples.push({ rss, heap: heapUsed });
	};
	sample();
	const live: number[] = [];
	const collections = new PerformanceObserver((list) => {
		if (list.getEntries().some(isFull)) live.push(process.memoryUsage().heapUsed);
	});
	collections.observe({ entryTypes: ['gc'] });
	const cpuBefore = process.cpuUsage();
	const timer = setInterval(sample, everyMs);
	try {
		const result = await work();
		const seconds = (performance.now() - started) / 1000;
		const { user, system } = process.cpuUsage(cpuBefore);
		sample();
		const memory = { ...curve(samples), ...(live.length > 0 && { peakLive: Math.max(...live) }) };
		return { result, seconds, cpuSeconds: (user + system) / 1e6, memory };
	} finally {
		clearInterval(timer);
		collections.disconnect();
	}
}

function isFull({ detail }: PerformanceEntry): boolean {
	const kind: unknown = (detail as { kind?: unknown } | undefined)?.kind;
	return kind === constants.NODE_PERFORMANCE_GC_MAJOR;
}

function curve(samples: MemorySample[]): MemoryCurve {
	const peak = (key: 'rss' | 'heap') => samples.reduce((max, one) => Math.max(max, one[key]), 0);
	return {
		samples,
		rssBefore: samples[0]?.rss ?? 0,
		peakRss: peak('rss'),
		peakHeap: peak('heap'),
	};
}
