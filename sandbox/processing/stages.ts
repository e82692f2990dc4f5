import type { StoredDocument } from '../entities';
import { asObject } from '../values';

export type ProcessOutcome = 'finish' | 'error' | 'cancel';

export interface ProcessState {
	status: string;
	progress: number;
	processMsg: string;
}

/** Processing asked for, under way, or over. */
export interface Processing {
	ms: number;
	/** When its turn came; undefined while documents before it are worked on. */
	startedAt?: number;
	/** What it came to; undefined until it is over. */
	end?: ProcessState;
}

/** What a test wants to become of a document. */
export interface Asked {
	outcome?: ProcessOutcome;
	processMsg?: string;
	processMs?: number;
}

/** The statuses on the way, each with the part of the time after which it begins: most of it goes into embedding. */
const STAGES: Array<[from: number, status: string]> = [
	[0, 'running'],
	[0.1, 'transformed'],
	[0.15, 'splitted'],
	[0.2, 'embedding'],
];

const OUTCOMES: ProcessOutcome[] = ['finish', 'error', 'cancel'];

/**
 * What becomes of a document can be said in its metadata, each part optional:
 * `{"sandbox":{"process":"error","processMsg":"No text found","processMs":500}}`. `process` is `finish`,
 * `error` or `cancel`; left out, it is what becomes of such a document on the real server.
 */
export function askedOf(document: StoredDocument): Asked {
	const { process, processMsg, processMs } = asObject(asObject(document.metadata).sandbox);
	return {
		outcome: OUTCOMES.find((one) => one === process),
		processMsg: typeof processMsg === 'string' ? processMsg : undefined,
		processMs: typeof processMs === 'number' ? processMs : undefined,
	};
}

/** Where processing stands at a moment; it says nothing of how far it is (`replaced-while-processing`). */
export function stateOf({ startedAt, ms, end }: Processing, now: number): ProcessState {
	if (end) return end;
	const part = startedAt === undefined || ms <= 0 ? 0 : Math.min(1, (now - startedAt) / ms);
	const stage = STAGES.filter(([from]) => from <= part).at(-1);
	return { status: stage?.[1] ?? 'running', progress: 0, processMsg: '' };
}
