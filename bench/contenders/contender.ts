import type { Target } from '../support/server';

/** Who sends. */
export type ContenderName = 'submit' | 'helper';

/** What a contender has to do. */
export interface Task {
	contender: ContenderName;
	target: Target;
	documents: number;
	/** Documents sent before the clock starts, so that all code is compiled, as in a server that has run a while. */
	warmUp: number;
	documentBytes: number;
	batchSize: number;
	concurrency: number;
	/** Files with the bodies that Submit sends for these documents: of the warm-up, and of the rest. */
	bodies: BodyFiles;
}

/** Where bodies lie, if the contender needs any. */
export interface BodyFiles {
	warmUp?: string;
	rest?: string;
	/** How many bytes the rest is. */
	restBytes: number;
	warmUpBytes: number;
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

/** Documents, and the bodies they make. */
export interface Load {
	documents: Array<Record<string, unknown>>;
	bodies: Buffer[];
}

/** Work prepared outside the time that is measured; resolves with how many documents the server has confirmed. */
export type Ready = () => Promise<number>;
