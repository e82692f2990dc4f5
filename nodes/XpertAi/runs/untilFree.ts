import { readConversation } from '../threads/conversation';
import type { ThreadState } from '../threads/state';
import { lookAtThread } from '../threads/thread';
import type { Failure } from '../transport/failure';
import { isTransient, mayMeanNoRecord } from '../transport/meaning';
import { FIRST_PAUSE_MS, longerPause } from '../transport/polling';
import { remaining, waitInTime } from './run';
import type { Sent } from './run';
import { busy, failed, stillBusy } from './verdict';
import type { Verdict } from './verdict';

/** Looks in a row that may fail; a server that is down is reported soon. */
const MAX_UNREAD = 5;

/** Looks in a row that must find nothing stored before a thread whose conversation has run counts as empty. */
const EMPTY_LOOKS = 2;

/** How a thread stands: its state, or why it cannot be read; nothing of both where no run has left anything. */
interface Standing {
	status?: string;
	state?: ThreadState;
	failure?: Failure;
	/** Whether its conversation has run, and yet the thread cannot be read. */
	isEmptied?: boolean;
}

/** Waits until no other run is on the thread; the state it is in then, if it has ever run. */
export async function untilFree(
	run: Sent,
): Promise<{ state?: ThreadState } | { verdict: Verdict }> {
	let unread = 0;
	let emptied = 0;
	for (let pause = FIRST_PAUSE_MS; ; pause = longerPause(pause)) {
		const { status, state, failure, isEmptied } = await standing(run);
		unread = failure ? unread + 1 : 0;
		emptied = isEmptied ? emptied + 1 : 0;
		if (failure) {
			const goesOn = isTransient(failure) && unread < MAX_UNREAD && remaining(run) > 0;
			if (!goesOn) return { verdict: failed(failure) };
		} else if (status !== 'busy' || run.whenBusy === 'run') {
			if (emptied === 0 || emptied >= EMPTY_LOOKS) return { state };
		} else {
			if (run.whenBusy === 'fail') return { verdict: busy() };
			if (remaining(run) <= 0) return { verdict: stillBusy() };
		}
		await waitInTime(run, pause);
	}
}

/**
 * Reads the thread. One that has never run cannot be read, nor can one in the first moments of its first
 * run (recorded): its conversation tells them apart. One of no conversation is left to E4.
 */
async function standing(run: Sent): Promise<Standing> {
	const reading = await lookAtThread(run, run.threadId);
	if ('state' in reading) return { status: reading.state.status, state: reading.state };
	if (!mayMeanNoRecord(reading.failure)) return reading;
	const { status, failure } = await readConversation(run, run.threadId);
	return { status, failure, isEmptied: status !== undefined && status !== 'busy' };
}
