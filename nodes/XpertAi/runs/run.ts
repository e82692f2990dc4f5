import { readThreadConversation } from '../threads/conversation';
import type { LockSupport } from '../threads/lockRecord';
import type { Listener } from '../threads/runTranscript';
import type { RunIds } from '../threads/runsApi';
import type { Client } from './client';
import type { RunFacts } from './result';
import type { Intent, RunBody } from './runBody';

/** A client for one run, with the IDs and the facts of this run. */
export type RunClient = Client & RunIds & Pick<Run, 'facts'>;

/** A run of this node, with its settings and the client for its requests. The server's record of a run is `RunRecord`. */
export interface Run extends Client {
	threadId: string;
	/** What is known about the run so far. The output and the error contain these facts. */
	facts: RunFacts;
	/** The request body. A message requires `assistant_id`. For a decision or a retry, the node adds a missing ID. */
	body: RunBody;
	intent: Intent;
	/** Whether the node created the thread for this run. If true, no other run uses the thread. */
	isThreadNew: boolean;
	/** What to do if another run is active on the thread: wait for its end, fail at once, or run anyway. */
	whenBusy: 'wait' | 'fail' | 'run';
	/**
	 * The node cancels another run on the thread after this many milliseconds without events. That run must also have
	 * started at least `MIN_AGE_FACTOR` times as many milliseconds ago (see `blockingRun.ts`). 0: never.
	 */
	cancelSilentMs: number;
	/** Whether the server lacks the routes for background runs. All runs with the same connection share this object. */
	backgroundRoutes: { areMissing: boolean };
	/** What is known about locks on the server. All runs with the same token share this object. */
	lockSupport: LockSupport;
	/** Receives the answer in pieces, while the assistant writes it. */
	listener?: Listener;
	/** Whether to start the run and wait for it in one request, for servers without background runs. */
	inOneRequest?: boolean;
	/** What to do with the run on the server when the execution is stopped or the deadline expires. */
	whenGivenUp?: 'leave' | 'cancel';
}

/** Reads the conversation of a run's thread. Sets `facts.conversationId` if it is undefined. Never throws. */
export async function readRunConversation(run: Client & Pick<Run, 'threadId' | 'facts'>) {
	const found = await readThreadConversation(run, run.threadId);
	run.facts.conversationId ??= found.conversationId;
	return found;
}
