import { beginInTurn } from '../../../../../nodes/XpertAi/runs/takingTurns';
import type { ThreadState } from '../../../../../nodes/XpertAi/threads/state';
import type { ApiRequest, Outcome, Send } from '../../../../../nodes/XpertAi/transport/request';
import { virtualTime } from '../../../support/virtualTime';
import { checked, fail } from './faults';
import { saying } from './run';

const THREAD = 't1';

/** When our run begins, by the server's clock. */
export const BEGUN_AT = '2026-11-22T10:00:00.000Z';

/** A run of somebody else, as the list has it. */
interface Theirs {
	run_id: string;
	created_at: string;
	status: string;
	updated_at?: string;
}

/** What a server says of the runs of a thread. */
interface Script {
	/** The runs of others each time the list is asked for; at the end the last one again. */
	lists: Theirs[][];
	/** How our run stands when it is listed. */
	status?: string;
	refusesCancel?: boolean;
	/** How our run stands once it was to be cancelled. */
	afterCancel?: string;
	/** What the thread has an answer to once our run was cancelled. */
	answered?: string;
	/** Which reading of the thread fails, counted from 1. */
	unread?: number;
	noList?: boolean;
	/** After how many lists none can be had. */
	failsAfter?: number;
	deadlineMs?: number;
	stopAfterMs?: number;
	/** The thread as it was read before. */
	read?: { state: ThreadState };
}

/** A server that begins our runs, and says of others what a test wants. */
class ScriptedServer {
	begun = 0;
	reads = 0;
	readonly cancelled: string[] = [];
	private listed = 0;
	private isRefused = false;

	constructor(private readonly script: Script) {}

	readonly send: Send = async (request) => await Promise.resolve(this.answer(request));

	private answer(request: ApiRequest): Outcome {
		const { method, path } = request;
		if (path === `/threads/${THREAD}`) return this.thread(request);
		if (path === `/threads/${THREAD}/runs`)
			return method === 'POST' ? this.begin(request) : this.list(request);
		if (path.endsWith('/cancel')) return this.cancel(request);
		const { afterCancel = this.cancelled.length > 0 ? 'interrupted' : 'running' } = this.script;
		return this.ok(request, this.own(this.begun, afterCancel));
	}

	private thread(request: ApiRequest): Outcome {
		this.reads += 1;
		const { answered, unread } = this.script;
		if (this.reads === unread) return fail(request, { kind: 'status', status: 403 });
		const said = [{ content: answered }, { content: 'Hi', tool_calls: [] }];
		const messages = answered !== undefined && this.cancelled.length > 0 ? said : [];
		return this.ok(request, { thread_id: THREAD, status: 'idle', values: { messages } });
	}

	private begin(request: ApiRequest): Outcome {
		this.begun += 1;
		return this.ok(request, { ...this.own(this.begun, 'running'), assistant_id: null });
	}

	private list(request: ApiRequest): Outcome {
		const { lists, noList, failsAfter = Infinity, status = 'running', afterCancel } = this.script;
		if (noList) return fail(request, { kind: 'status', status: 403, reason: 'not yours' });
		if (this.listed >= failsAfter) return fail(request, { kind: 'status', status: 403 });
		const others = lists[Math.min(this.listed, lists.length - 1)] ?? [];
		this.listed += 1;
		const ours =
			this.begun > this.cancelled.length
				? [this.own(this.begun, (this.isRefused && afterCancel) || status)]
				: [];
		const runs = others.map((one) => ({ ...one, thread_id: THREAD, assistant_id: 'a' }));
		return this.ok(request, [...runs, ...ours]);
	}

	private cancel(request: ApiRequest): Outcome {
		const runId = request.path.split('/').at(-2) ?? '';
		this.isRefused = this.script.refusesCancel === true;
		if (this.isRefused) return fail(request, { kind: 'status', status: 400 });
		this.cancelled.push(runId);
		return this.ok(request, { canceledExecutionIds: [runId] });
	}

	private own(number: number, status: string) {
		const named = { run_id: `ours-${number}`, thread_id: THREAD, assistant_id: 'a' };
		return { ...named, status, created_at: BEGUN_AT, updated_at: BEGUN_AT };
	}

	private ok(request: ApiRequest, answer: unknown): Outcome {
		return checked(request, { ok: true, status: 200, answer });
	}
}

/** Begins a run in turn on such a server. */
export async function scripted(script: Script) {
	const server = new ScriptedServer(script);
	const time = virtualTime(script.stopAfterMs);
	const taking = {
		...{ send: server.send, clock: time, signal: time.signal, threadId: THREAD },
		...{
			body: { ...saying('hello'), assistant_id: 'a' },
			isNew: false,
			whenBusy: 'wait' as const,
			takesTurns: true,
		},
		deadline: time.now() + (script.deadlineMs ?? 60_000),
	};
	const begun = await beginInTurn(taking, script.read);
	return { begun, server, time };
}
