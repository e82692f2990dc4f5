import type { Clock } from './clock';
import type { StoredDocument } from './entities';
import { asObject } from './values';

/** How the processing of a document can end. */
export type ProcessOutcome = 'finish' | 'error' | 'cancel';

/** The state of a document as the status route shows it. */
export interface ProcessState {
	status: string;
	progress: number;
	processMsg: string | null;
}

/** Processing under way, or over. */
export interface Processing {
	startedAt: number;
	ms: number;
	outcome: ProcessOutcome;
	processMsg: string | null;
}

/** The statuses on the way, each with the part of the time after which it begins. */
const STAGES: Array<[from: number, status: string]> = [
	[0, 'waiting'],
	[0.1, 'running'],
	[0.3, 'transformed'],
	[0.5, 'splitted'],
	[0.7, 'embedding'],
];

/** A document that is not to finish stops at this part of its time. */
const BREAKS_AT = 0.5;

const MESSAGES: Record<ProcessOutcome, string | null> = {
	finish: null,
	error: 'The document could not be processed',
	cancel: 'Cancelled',
};

const OUTCOMES = Object.keys(MESSAGES) as ProcessOutcome[];

/**
 * Starts processing a document. What becomes of it can be said in its metadata:
 * `{"sandbox":{"process":"error","processMsg":"No text found","processMs":500}}`, each part optional;
 * `process` is `finish` (also when left out), `error` or `cancel`.
 */
export function startProcessing(clock: Clock, document: StoredDocument, ms: number): Processing {
	const asked = asObject(asObject(document.metadata).sandbox);
	const outcome = OUTCOMES.find((one) => one === asked.process) ?? 'finish';
	return {
		startedAt: clock.now(),
		ms: typeof asked.processMs === 'number' ? asked.processMs : ms,
		outcome,
		processMsg: typeof asked.processMsg === 'string' ? asked.processMsg : MESSAGES[outcome],
	};
}

/** Where processing stands at a moment; nothing runs meanwhile, the clock alone moves it on. */
export function stateOf(
	{ startedAt, ms, outcome, processMsg }: Processing,
	now: number,
): ProcessState {
	const part = ms > 0 ? Math.min(1, Math.max(0, (now - startedAt) / ms)) : 1;
	if (outcome !== 'finish' && part >= BREAKS_AT) {
		return { status: outcome, progress: BREAKS_AT * 100, processMsg };
	}
	if (part >= 1) return { status: 'finish', progress: 100, processMsg };
	const stage = STAGES.filter(([from]) => from <= part).at(-1);
	return { status: stage?.[1] ?? 'waiting', progress: Math.floor(part * 100), processMsg: null };
}
