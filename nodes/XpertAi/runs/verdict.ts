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
	/** The number of the run, where the server tells it. */
	runId?: string;
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

/**
 * Arguments are to be changed of calls that do not wait: the server would carry out what waits as it is.
 *
 * @param calls what waits, by the ids of the calls; none where the server shows no calls, as after a change
 */
export function notChanged(calls: string[]): Verdict {
	const [reason, way] =
		calls.length === 0
			? ['What waits does not show its calls', CHANGED_BEFORE]
			: ['"Changed Arguments" names a call that does not wait', `Waiting: ${calls.join(', ')}.`];
	return failed(undefined, reason, `Nothing was decided. ${way}`);
}

const CHANGED_BEFORE =
	'So it is once arguments were changed. Leave "Changed Arguments" empty to confirm them, or reject.';

/** Changed arguments have arrived, and the confirmation that carries them out has come to nothing. */
export function changedOnly(verdict: Verdict): Verdict {
	const way =
		'The changed arguments have arrived. If the thread still waits, decide again, with "Changed Arguments" left empty.';
	return { ...verdict, advice: [way, verdict.advice].filter(Boolean).join(' ') };
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
export function notArrived(failure?: Failure, what = 'The message'): Verdict {
	return failed(failure, `${what} did not reach the assistant${because(failure)}`);
}

/** The thread has changed, and our message is not on it. */
export function passedOver(failure?: Failure): Verdict {
	const advice =
		'It did not arrive, failed, or another run on the thread at the same time has overwritten it: which of these is not known. Read the thread before you send it again.';
	return failed(failure, 'The thread has gone on without this message', advice);
}

/** The deadline came, and what became of our request was not to be seen, as while a decision is carried out. */
export function maybeArrived(what: string, failure?: Failure): Verdict {
	const advice =
		'Of some runs the server shows nothing until they have ended. Read the thread before you send it again.';
	const seen = `${what} may have reached the assistant, but nothing of it was to be seen`;
	return timedOut(seen, failure, advice);
}

/** The answer to what began a run was lost, and the thread shows none that is new. */
export function mayHaveBegun(failure: Failure): Verdict {
	const advice = 'Read the thread before you start it again: a run may begin late.';
	const reason = `The run may have begun, but nothing of it is to be seen${because(failure)}`;
	return failed(failure, reason, advice);
}

/** A number that is left over of a decision or of a refusal: nothing runs under it, and it never ends. */
export function leftOver(): Verdict {
	const advice =
		'Such a number is left over of a decision, or of a message that was refused. Take the runId of the run itself.';
	return failed(undefined, 'Nothing runs under this run ID', advice);
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
