import type { ThreadState } from '../threads/state';
import { assistantOn, conversationOf } from '../threads/thread';
import type { Failure } from '../transport/failure';
import { isRouteMissing } from '../transport/meaning';
import { FIRST_PAUSE_MS, longerPause } from '../transport/polling';
import { listRuns, newest, startRun } from './byNumber';
import type { RunRecord } from './byNumber';
import { askedBy } from './input';
import { remaining, sendInTime, waitInTime } from './run';
import type { Sent } from './run';
import { untilFree } from './untilFree';
import { whyUnreadable } from './unknownThread';
import { cancelled, failed, mayHaveBegun } from './verdict';
import type { Verdict } from './verdict';

/** A run that has begun, and who answers in which conversation as far as that is known. */
export interface Begun {
	runId: string;
	assistantId?: unknown;
	conversationId?: string;
	/** The thread before it, where that has run. */
	before?: ThreadState;
}

/** How a thread on which nothing runs was seen to stand just now. */
export interface Seen {
	/** Nothing where it has never run. */
	state?: ThreadState;
	runs: RunRecord[];
}

/** How often the list of runs is asked for one whose number was lost: it stands there at once (recorded). */
const LOOKS = 4;

/**
 * Begins a run of a message, or of one to be answered again, in the background, once its thread is free. When the
 * answer is lost, the runs of the thread tell whether one has begun that was not there before; it is never begun
 * twice. Never throws.
 *
 * @param seen spares it from reading the thread and its runs
 * @returns its number, or why there is none
 */
export async function beginRun(given: Sent, seen?: Seen): Promise<Begun | { verdict: Verdict }> {
	const run = { ...given, send: sendInTime(given) };
	const free = seen ?? (run.isNew ? {} : await untilFree(run));
	if (run.signal?.aborted) return { verdict: cancelled() };
	if ('verdict' in free) return free;
	const { state: before } = free;
	const asked = askedBy(run.body);
	const isMessage = asked.kind === 'message';
	// What nothing was said on refuses to go on, and is then busy for ever (recorded).
	if (!isMessage && !before) return { verdict: await whyUnreadable(run, { ...run, asked }) };
	const body = isMessage ? run.body : { assistant_id: assistantOn(before), ...run.body };
	const known = seen ?? (run.isNew ? { runs: [] } : await listRuns(run, run.threadId));
	if ('failure' in known) return { verdict: refusal(known.failure) };
	const { outcome, mayBeDone, record } = await startRun(run, run.threadId, body);
	const facts = { assistantId: body.assistant_id, conversationId: conversationOf(before), before };
	if (record) return { runId: record.run_id, ...facts };
	if (outcome.ok) return { verdict: failed(undefined) };
	const { failure } = outcome;
	if (failure.kind === 'cancelled') return { verdict: cancelled(failure) };
	if (!mayBeDone) return { verdict: refusal(failure) };
	const runId = await lookFor(run, new Set(known.runs.map((one) => one.run_id)));
	if (runId !== undefined) return { runId, ...facts };
	return { verdict: run.signal?.aborted ? cancelled(failure) : mayHaveBegun(failure) };
}

/** The number of a run that was not known before; undefined where none is seen. */
async function lookFor(run: Sent, known: Set<string>): Promise<string | undefined> {
	let pause = FIRST_PAUSE_MS;
	for (let looks = 1; !run.signal?.aborted; looks += 1) {
		const listed = await listRuns(run, run.threadId);
		const fresh = 'runs' in listed ? listed.runs.filter((one) => !known.has(one.run_id)) : [];
		const found = newest(fresh)?.run_id;
		if (found !== undefined || looks === LOOKS || remaining(run) <= 0) return found;
		await waitInTime(run, pause);
		pause = longerPause(pause);
	}
	return undefined;
}

/** Why it was not begun; a server that has no such route is told from one that refuses. */
function refusal(failure: Failure): Verdict {
	if (!isRouteMissing(failure)) return failed(failure);
	const advice = 'Use Thread: Run and Wait, which works on every server.';
	return failed(failure, 'This server starts no runs in the background', advice);
}
