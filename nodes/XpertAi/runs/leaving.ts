import { failureMessage } from '../transport/failure';
import type { Send } from '../transport/request';
import { cancelRunning } from './followNumbered';
import { sendInTime } from './run';
import type { InTime, Leaving } from './run';
import type { Verdict } from './verdict';

/** What is wanted of a run that nobody waits for any more may take so long. */
const LEAVING_MS = 5_000;

/** Finds the number of a run; none where there is none, `others` where it may be another's. */
export type FindNumber = (late: InTime) => Promise<string | { isOthers: true } | undefined>;

/**
 * What becomes of a run that is waited for no longer: where it is wanted, it is cancelled on the server, and the
 * verdict says what came of that. Never throws.
 *
 * @param inTime whose `send` is held back neither by the deadline nor by Stop
 * @param find its number, asked for only where it is to be cancelled
 */
export async function whenLeft(
	inTime: InTime & Leaving,
	threadId: string,
	verdict: Verdict,
	find: FindNumber,
): Promise<Verdict> {
	const isLate = verdict.status === 'timedOut';
	const { signal, whenStopped, whenLate } = inTime;
	const wanted = signal?.aborted ? whenStopped : isLate ? whenLate : 'leave';
	if (wanted !== 'cancel') return verdict;
	const late = afterwards(inTime);
	const found = await find(late);
	if (found === undefined) return verdict;
	if (typeof found === 'object') return { ...verdict, advice: NOT_CANCELLED };
	const { cancelled, verdict: otherwise } = await cancelRunning(late, { threadId, runId: found });
	return { ...verdict, runId: found, advice: adviceOf(cancelled, otherwise) };
}

/** The same to be done after the deadline, or after the execution was stopped. */
function afterwards({ send, clock }: InTime): InTime {
	const sendLate: Send = async (request) => await send({ ...request, afterStop: true });
	const late = { send: sendLate, clock, deadline: clock.now() + LEAVING_MS };
	return { ...late, send: sendInTime(late) };
}

const NOT_CANCELLED =
	'It was not cancelled: others use its thread, and what runs there may be theirs. Read the thread later.';

function adviceOf(cancelled: boolean, otherwise: Verdict | undefined): string {
	if (cancelled) return 'It was cancelled on the server.';
	const failure = otherwise?.failure;
	if (!failure) return 'It had ended by then: read the thread.';
	return `It could not be cancelled, and goes on: ${failureMessage(failure)}. Read the thread later.`;
}
