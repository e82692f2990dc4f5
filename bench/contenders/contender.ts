import type { Target } from '../support/server';

/** What a contender has to do. */
export interface Task {
	contender: 'submit' | 'axios' | 'httpRequest';
	target: Target;
	documents: number;
	/** Documents sent before the clock starts, so that all code is compiled, as in a server that has run a while. */
	warmUp: number;
	documentBytes: number;
	batchSize: number;
	concurrency: number;
}

/** What came of it. */
export interface Measurement {
	seconds: number;
	/** Processor time of the client. */
	cpuSeconds: number;
	documents: number;
	peakRss: number;
	peakHeap: number;
}

/** Work prepared outside the time that is measured. */
export interface ReadyDocument {
	/** Sends all documents and resolves with how many the server has confirmed. */
	run: () => Promise<number>;
}
