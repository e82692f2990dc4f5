import { Told } from '../threads/events';
import type { Listener } from '../threads/events';
import { API_ROOT, buildPath } from '../transport/api';
import type { Failure } from '../transport/failure';
import { isTransient } from '../transport/meaning';
import { FIRST_PAUSE_MS, longerPause } from '../transport/polling';
import type { ApiRequest, Outcome, Send } from '../transport/request';
import type { ServerEvent } from '../transport/eventStream';
import type { NumberedRun } from './byNumber';
import { remaining, waitInTime } from './run';
import type { InTime, RunUnderWay } from './run';

/** Where a run is sent that is heard while it goes on, and where one that was begun is heard again. */
const STREAM_PATH = '/threads/{threadId}/runs/stream';
const JOIN_PATH = '/threads/{threadId}/runs/{runId}/stream';

/** So long nothing may come: a stream says every 30 s that it is there (recorded). */
const SILENCE_MS = 75_000;

/**
 * Makes the request of a run in place of E4, whose words are heard while it goes on. A stream that breaks is joined
 * again where it broke; the run is never begun again.
 *
 * @param listener hears each piece once
 * @returns sends a run; its outcome is that of E4, with the last words of the assistant and how the run has ended
 */
export function streaming(run: RunUnderWay, listener: Listener): Send {
	return async (request) => {
		const told = new Told(listener);
		const path = buildPath(STREAM_PATH, { threadId: run.threadId });
		const begin = { method: 'POST', path, body: request.body } as const;
		const outcome = await hearOn(run, told, await run.send(streamed(told, begin)));
		return heard(told, outcome, { method: 'POST', path: `${API_ROOT}${path}` });
	};
}

/**
 * Hears a run that has begun, until it has ended, or cannot be heard. Never throws.
 *
 * @param over ends it
 */
export async function hearRun(
	run: InTime,
	{ threadId, runId }: NumberedRun,
	listener: Listener,
	over: AbortSignal,
): Promise<void> {
	const told = new Told(listener, runId);
	const signal = run.signal ? AbortSignal.any([run.signal, over]) : over;
	const named = { ...run, signal, over, threadId };
	await hearOn(named, told, await join(named, told));
}

/** Joins a run again where its stream broke, as often as it breaks. */
async function hearOn(run: OnThread, told: Told, first: Outcome): Promise<Outcome> {
	let outcome = first;
	for (let pause = FIRST_PAUSE_MS; mayGoOn(run, told, outcome); pause = longerPause(pause)) {
		await waitInTime(run, pause);
		outcome = await join(run, told);
	}
	return outcome;
}

async function join(run: OnThread, told: Told): Promise<Outcome> {
	const path = buildPath(JOIN_PATH, { threadId: run.threadId, runId: told.runId ?? '' });
	return await run.send(streamed(told, { method: 'GET', path }, run.over));
}

function streamed(
	told: Told,
	one: Pick<ApiRequest, 'method' | 'path' | 'body'>,
	over?: AbortSignal,
): ApiRequest {
	const stream = { after: told.lastId, over, hear: (event: ServerEvent) => told.hear(event) };
	return { ...one, timeoutMs: SILENCE_MS, stream };
}

/** Where a run is heard, and until when. */
type OnThread = InTime & { threadId: string; over?: AbortSignal };

/** Whether more is to be heard of a run that has begun. */
function mayGoOn(run: InTime, told: Told, outcome: Outcome): boolean {
	if (told.isComplete || told.runId === undefined || run.signal?.aborted) return false;
	return remaining(run) > 0 && (outcome.ok || isTransient(outcome.failure));
}

function heard(told: Told, outcome: Outcome, of: Pick<Failure, 'method' | 'path'>): Outcome {
	if (told.isComplete) {
		// An answer is what E4 answers; only of a run that went wrong more is told.
		const flaw = typeof told.end?.error === 'string' ? told.end : {};
		return { ok: true, status: 201, answer: { role: 'ai', content: told.answer, ...flaw } };
	}
	const isOver = !outcome.ok && outcome.failure.kind === 'cancelled';
	if (!outcome.ok && (isOver || told.lastId === undefined)) return outcome;
	// What became of a run that has begun its thread shows: why it is not heard says nothing of that.
	return { ok: false, failure: { ...of, kind: 'network', reason: 'the stream broke off' } };
}
