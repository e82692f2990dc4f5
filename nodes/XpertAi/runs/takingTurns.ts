import { lastReply, messagesOf, newMessages, repliesTo } from '../threads/messages';
import { lookAtThread } from '../threads/thread';
import { isRouteMissing } from '../transport/meaning';
import { FIRST_PAUSE_MS } from '../transport/polling';
import { beginRun } from './begin';
import type { Begun, Seen } from './begin';
import { listRuns, placeOf, readRun, requestCancel } from './byNumber';
import type { RunRecord } from './byNumber';
import { askedBy } from './input';
import { remaining, sendInTime, waitInTime } from './run';
import type { Numbers, Sent } from './run';
import { cancelled, stillBusy } from './verdict';
import type { Verdict } from './verdict';

/*
 * How executions on several workers take turns on one thread. They share nothing but the server, which accepts two
 * runs at once and loses a pair of messages; its list of runs is the lock (recorded, turns.json):
 *
 * 1. Wait until no run of the thread goes on.
 * 2. Begin in the background, and look at the list again: what has begun before us is there, always.
 * 3. An older run goes on, or has ended since ours began: ours gives way. It is cancelled, and begins again once none
 *    goes on and what the older one has said is stored. Of two of one moment, the lower number is the older.
 *
 * A run that has ended by then stays, as asking twice would do its work twice: where it lost its messages, it says so.
 */

/** So long the messages of a run that has ended may take to be stored (recorded: 0.2 to 0.6 s). */
const SETTLING_MS = 800;

/** What is to begin; those of one execution find out together that a server has no routes of runs. */
type Taking = Sent & { numbers?: Numbers };

/** How a thread was read before it takes its turn: nothing where it has never run. */
type Read = Pick<Seen, 'state'>;

/**
 * Begins a run on a thread that others may use at the same moment, when it is its turn. Never throws.
 *
 * @param read the thread as it was just now, if it was read
 * @returns its number, or why there is none; nothing where it takes no turns, or the server does not tell of its runs
 */
export async function beginInTurn(
	given: Taking,
	read?: Read,
): Promise<Begun | { verdict: Verdict } | undefined> {
	const { takesTurns, whenBusy, numbers } = given;
	if (!takesTurns || whenBusy !== 'wait' || numbers?.areMissing) return undefined;
	const run = { ...given, send: sendInTime(given) };
	for (let state = read; ; state = undefined) {
		const free = await untilNoneRuns(run);
		if (free === undefined || 'verdict' in free) return free;
		const seen = state && !free.hasWaited ? { ...state, ...free } : undefined;
		const begun = await beginRun(given, seen);
		if ('verdict' in begun || !(await isBehind(run, begun.runId))) return begun;
		await waitInTime(run, FIRST_PAUSE_MS);
		if (await isAnswered(run, begun)) return begun;
	}
}

/**
 * Whether a run had its answer before it could be cancelled: one that had ended by then is marked as cancelled as well,
 * and one that had not truly begun goes on to its end (recorded).
 */
async function isAnswered(run: Sent, { before, runId }: Begun): Promise<boolean> {
	const { threadId } = run;
	const own = await readRun(run, { threadId, runId });
	if ('record' in own && own.record.status === 'success') return true;
	const { text = '' } = askedBy(run.body);
	const reading = await lookAtThread(run, threadId);
	if ('failure' in reading) return false;
	const fresh = newMessages(messagesOf(before), messagesOf(reading.state));
	return lastReply(repliesTo(text, fresh, false) ?? []) !== undefined;
}

/** Waits until no run of the thread goes on, and what was said is stored; nothing where the server does not tell. */
async function untilNoneRuns(
	run: Taking,
): Promise<{ verdict: Verdict } | { runs: RunRecord[]; hasWaited: boolean } | undefined> {
	for (let hasWaited = false; ; hasWaited = true) {
		const listed = await listRuns(run, run.threadId);
		if (run.signal?.aborted) return { verdict: cancelled() };
		if ('failure' in listed) {
			if (run.numbers) run.numbers.areMissing = isRouteMissing(listed.failure);
			return undefined;
		}
		if (!listed.runs.some(({ status }) => status === 'running')) {
			if (hasWaited) await waitInTime(run, SETTLING_MS);
			return { runs: listed.runs, hasWaited };
		}
		if (remaining(run) <= 0) return { verdict: stillBusy() };
		// Looks do not become rarer: who waits longest would come last.
		await waitInTime(run, FIRST_PAUSE_MS);
	}
}

/** Whether our run was not the first, and has given way. */
async function isBehind(run: Sent, runId: string): Promise<boolean> {
	const { threadId } = run;
	const listed = await listRuns(run, threadId);
	const runs = 'runs' in listed ? listed.runs : [];
	const own = runs.find((one) => one.run_id === runId);
	if (own?.status !== 'running' || !runs.some((one) => comesFirst(one, own))) return false;
	const failure = await requestCancel(run, { threadId, runId });
	if (!failure) return true;
	const after = await readRun(run, { threadId, runId });
	return 'record' in after && after.record.status === 'interrupted';
}

/** Whether another run is older and meets ours. */
function comesFirst(other: RunRecord, own: RunRecord): boolean {
	if (placeOf(other) >= placeOf(own)) return false;
	if (other.status === 'running') return true;
	return other.status === 'success' && (other.updated_at ?? '') >= own.created_at;
}
