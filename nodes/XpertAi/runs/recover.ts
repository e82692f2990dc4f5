import isEqual from 'lodash/isEqual';

import type { Failure } from '../transport/failure';
import { isTransient } from '../transport/retryPolicy';
import { judgeState, ownReplies } from './judgeState';
import { lastReply } from './messages';
import { FIRST_POLL_MS, longer, remaining, waitInTime } from './run';
import type { Before, Run } from './run';
import { readThread } from './thread';
import { cancelled, notArrived, outOfSight, timedOut } from './verdict';
import type { Verdict } from './verdict';

/** What E15 answers for a thread that has never run. */
const NEVER_RAN = new Set([404, 500]);

/**
 * Follows a run whose answer did not come, by reading the thread (E15) until it is no longer busy.
 *
 * @param failure why the answer did not come, where a request failed
 */
export async function recover(run: Run, before: Before, failure?: Failure): Promise<Verdict> {
	let quiet = 0;
	for (let pause = FIRST_POLL_MS; ; pause = longer(pause)) {
		if (run.signal?.aborted) return cancelled(failure);
		if (remaining(run) <= 0) return timedOut('The run was still going on', failure);
		await waitInTime(run, pause);
		const reading = await readThread(run.send, run.threadId);
		if ('failure' in reading) {
			const { status } = reading.failure;
			if (!isTransient(reading.failure) && !NEVER_RAN.has(status ?? 0))
				return outOfSight(reading.failure);
			// A thread that has run before can be read; any other has never run: nothing has arrived.
			if (isTransient(reading.failure) || before || ++quiet < 2) continue;
			return notArrived(failure ?? reading.failure);
		}
		const { state } = reading;
		if (state.status === 'busy') continue;
		const judged = isEqual(state, before) ? undefined : await judgeState(run, state, false);
		if (judged) return { ...judged, recovered: true };
		const replies = ownReplies(run, before, state);
		const reply = replies && lastReply(replies);
		// It may not have begun yet, or not have written all; a second look decides.
		if (!reply && ++quiet < 2) continue;
		if (!replies) return notArrived(failure);
		const hidden = reply ? undefined : await judgeState(run, state, true);
		return {
			...(hidden ?? { status: 'completed', reply: reply ?? '', answer: state }),
			recovered: true,
		};
	}
}
