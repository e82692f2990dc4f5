import { failureMessage } from '../transport/failure';
import type { Failure } from '../transport/failure';

/** What ends a run. */
export interface Verdict {
	status: 'completed' | 'interrupted' | 'failed' | 'timedOut' | 'cancelled';
	reply?: string;
	/** The server's answer: of E4, or of E15 when the run was recovered or the answer of E4 says nothing. */
	answer?: unknown;
	interrupt?: unknown;
	/** Why there is no answer, in words for the user; the failure says it where this is missing. */
	reason?: string;
	/** The request that failed, when one did. */
	failure?: Failure;
	/** Whether the wait broke and the answer was taken from the thread. */
	recovered: boolean;
	conversationId?: string;
}

/** A request failed for good. */
export function failed(failure: Failure): Verdict {
	return { status: 'failed', failure, recovered: false };
}

/** The user stopped the execution. */
export function cancelled(failure?: Failure): Verdict {
	return { status: 'cancelled', reason: 'The execution was canceled', failure, recovered: false };
}

/** Another run is on the thread, and the user does not want to wait for it. */
export function busy(failure?: Failure): Verdict {
	const reason = 'Another run is going on on this thread';
	return { status: 'failed', reason, failure, recovered: false };
}

/** The deadline came. */
export function timedOut(what: string, failure?: Failure): Verdict {
	const reason = `${what} when the deadline came`;
	return { status: 'timedOut', reason, failure, recovered: false };
}

/** The thread shows that our request never reached it. */
export function notArrived(failure?: Failure): Verdict {
	const reason = `The message did not reach the assistant${because(failure)}`;
	return { status: 'failed', reason, failure, recovered: false };
}

/** The wait broke, and the thread cannot be read. */
export function outOfSight(failure: Failure): Verdict {
	const reason = `The run may be going on, but its thread cannot be read${because(failure)}`;
	return { status: 'failed', reason, failure, recovered: false };
}

function because(failure?: Failure): string {
	return failure ? `. ${failureMessage(failure)}` : '';
}
