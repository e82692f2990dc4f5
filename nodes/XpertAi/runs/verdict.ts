import type { ThreadMessage, ThreadState } from '../threads/state';
import { failureMessage } from '../transport/failure';
import type { Failure } from '../transport/failure';
import type { Asked } from './input';

/** What ends a run. */
export interface Verdict {
	status: 'completed' | 'interrupted' | 'failed' | 'timedOut' | 'cancelled';
	/** What the assistant said. */
	output?: string;
	/** What the answer holds beside its text, such as images and files. */
	parts?: unknown[];
	/** The server's answer: of E4, or of E15 when the run was recovered or the answer of E4 says nothing. */
	answer?: unknown;
	/** What a person is to decide: the tasks of the conversation (E5), or what the answer names. */
	interrupt?: unknown[];
	/** Why there is no answer, in words for the user; the failure says it where this is missing. */
	reason?: string;
	/** How to go on, where more can be said than to look the thread up. */
	advice?: string;
	/** The request that failed, when one did. */
	failure?: Failure;
	/** Whether the wait broke and the answer was taken from the thread. */
	recovered: boolean;
	conversationId?: string;
	/** The thread that an answer or a wait was judged by. */
	thread?: ThreadState;
	/** What of it is of this run: all that came after its question, also before a decision. */
	messages?: ThreadMessage[];
	/** The assistant that was to answer. */
	assistantId?: unknown;
	/** That a person's no was heard: what waited was not carried out. */
	rejected?: true;
	/** That the answer is there, but the thread does not hold it: a run at the same time has overwritten it. */
	remembered?: false;
}

/** A request failed for good, or the run did, for this reason. */
export function failed(failure: Failure | undefined, reason?: string, advice?: string): Verdict {
	return { status: 'failed', failure, reason, advice, recovered: false };
}

/** The user stopped the execution. */
export function cancelled(failure?: Failure): Verdict {
	return { status: 'cancelled', reason: 'The execution was canceled', failure, recovered: false };
}

const RUN_ANYWAY =
	'If nothing is going on there any more, because its server was restarted, run it with "When the Thread Is Busy" set to "Run Anyway".';

/** A decision that nothing on the thread waits for; servers answer it with nothing, or an old answer. */
export function nothingToDecide(): Verdict {
	const advice =
		'Only a run that comes out with the status "interrupted" can be decided, and only once.';
	return failed(undefined, 'Nothing on this thread waits for a decision', advice);
}

/** A thread that has never run, or whose assistant nobody knows: nothing can be decided or answered again there. */
export function nothingToGoOnWith({ kind }: Asked): Verdict {
	if (kind === 'decision') return nothingToDecide();
	const advice = 'Check "Thread", and say something on it with Thread: Run and Wait first.';
	return failed(undefined, 'Nothing was said on this thread that could be answered again', advice);
}

/** The server has answered a decision, and what it was about waits as before. */
export function stillUndecided(): Verdict {
	const advice =
		'Leave "Target" empty to decide what the thread waits for, or name the task that waits.';
	return failed(
		undefined,
		'The server answered, but what waits for a decision still waits',
		advice,
	);
}

/** A person's no was heard: the run has ended, and nobody says anything more. */
export function rejected(): Verdict {
	return { status: 'completed', output: '', rejected: true, recovered: false };
}

/** What was rejected was carried out all the same. */
export function carriedOut(): Verdict {
	const advice =
		'Somebody else has confirmed it before the rejection arrived. Read the thread to see what was done.';
	return failed(undefined, 'What was rejected was carried out', advice);
}

/** Another run is on the thread, and the user does not want to wait for it. */
export function busy(): Verdict {
	return failed(undefined, 'Another run is going on on this thread', RUN_ANYWAY);
}

/** The deadline came. */
export function timedOut(what: string, failure?: Failure, advice?: string): Verdict {
	const reason = `${what} when the deadline came`;
	return { status: 'timedOut', reason, failure, advice, recovered: false };
}

/** The deadline came while another run was on the thread, which may be one whose server has died. */
export function stillBusy(): Verdict {
	return timedOut('Another run was still going on on the thread', undefined, RUN_ANYWAY);
}

/** The deadline came while our run was on the thread. */
export function stillRunning(failure?: Failure): Verdict {
	const advice = `Raise "Deadline (Minutes)", or read the thread later: the run goes on. ${RUN_ANYWAY}`;
	return timedOut('The run was still going on', failure, advice);
}

/** The thread shows that our request never reached it. */
export function notArrived(failure?: Failure): Verdict {
	return failed(failure, `The message did not reach the assistant${because(failure)}`);
}

/** The thread has changed, and our message is not on it. */
export function passedOver(failure?: Failure): Verdict {
	const advice =
		'It did not arrive, failed, or another run on the thread at the same time has overwritten it: which of these is not known. Read the thread before you send it again.';
	return failed(failure, 'The thread has gone on without this message', advice);
}

/** Of what we asked for, the server shows nothing until it has ended, and it has not ended in time. */
export function maybeArrived(what: string, failure?: Failure): Verdict {
	const advice =
		'The server shows nothing of it until it has been carried out. Read the thread before you send it again.';
	const seen = `${what} may have reached the assistant, but nothing of it was to be seen`;
	return timedOut(seen, failure, advice);
}

/** The wait broke, and the thread cannot be read. */
export function threadUnreadable(failure: Failure): Verdict {
	return failed(
		failure,
		`The run may be going on, but its thread cannot be read${because(failure)}`,
	);
}

function because(failure?: Failure): string {
	return failure ? `. ${failureMessage(failure)}` : '';
}
