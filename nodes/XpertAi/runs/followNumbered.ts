import type { Failure } from '../transport/failure';
import { FIRST_PAUSE_MS, longerPause } from '../transport/polling';
import { isTransient } from '../transport/meaning';
import { readRun, requestCancel } from './byNumber';
import type { NumberedRun } from './byNumber';
import { standingOf } from './judgeNumbered';
import type { Standing } from './judgeNumbered';
import { remaining, sendInTime, waitInTime } from './run';
import type { InTime } from './run';
import { cancelled, failed, stillRunning } from './verdict';
import type { Verdict } from './verdict';

/** So long a run is looked for that could not be read once: the address or the server may be wrong. */
const UNKNOWN_MS = 60_000;

/** So soon after its end a run is looked at again; its thread shows the end within moments (recorded). */
const SOON_MS = 200;

/** How a run has ended. */
export type Ended = Standing & { verdict: Verdict };

/**
 * Follows a run by its number until it has ended, the deadline comes, or the execution is stopped. A look that fails
 * for a while is made again. Never throws.
 *
 * @param heard tells that it may have ended, so that it is looked at soon
 */
export async function followRun(
	inTime: InTime,
	named: NumberedRun,
	heard?: AbortSignal,
): Promise<Ended> {
	const asking = { ...inTime, send: sendInTime(inTime) };
	const began = inTime.clock.now();
	let isKnown = false;
	let lost: Failure | undefined;
	for (let pause = FIRST_PAUSE_MS; ; pause = longerPause(pause)) {
		const standing = await standingOf(asking, named);
		const { verdict, ...known } = standing;
		const failure = verdict?.reason === undefined ? verdict?.failure : undefined;
		if (inTime.signal?.aborted) return { ...known, verdict: cancelled(failure) };
		if (verdict && !(failure && isTransient(failure))) return { ...known, verdict };
		isKnown ||= !verdict;
		const isUnknown = !isKnown && inTime.clock.now() - began >= UNKNOWN_MS;
		const isLast = isUnknown || remaining(inTime) <= 0;
		// What the last look had no time for is not the reason.
		if (!isLast || !lost) lost = failure;
		if (isLast) return { ...known, verdict: lost && !isKnown ? failed(lost) : stillRunning(lost) };
		if (heard?.aborted !== false) await waitInTime(inTime, pause);
		else if (await waitOrHear(inTime, pause, heard)) pause = SOON_MS;
	}
}

/** Waits, unless something is heard meanwhile. @returns whether something was */
async function waitOrHear(inTime: InTime, pause: number, heard: AbortSignal): Promise<boolean> {
	const { signal } = inTime;
	const either = signal ? AbortSignal.any([signal, heard]) : heard;
	await waitInTime({ ...inTime, signal: either }, pause);
	return heard.aborted;
}

/**
 * Cancels a run if it goes on, and only then: the server makes a cancelled run of one that has ended (recorded). When
 * the answer is lost, the run itself tells. Never throws.
 *
 * @returns whether it was cancelled; how it stood otherwise
 */
export async function cancelRunning(
	asking: InTime,
	named: NumberedRun,
): Promise<{ cancelled: boolean } & Standing> {
	const before = await readRun(asking, named);
	if ('failure' in before) return { cancelled: false, verdict: failed(before.failure) };
	if (before.record.status !== 'running')
		return { cancelled: false, ...(await standingOf(asking, named)) };
	const done = { cancelled: true, assistantId: before.record.assistant_id ?? undefined };
	const failure = await requestCancel(asking, named);
	if (!failure) return done;
	const after = isTransient(failure) ? await readRun(asking, named) : undefined;
	if (after && 'record' in after && after.record.status === 'interrupted') return done;
	return { cancelled: false, verdict: failed(failure) };
}
