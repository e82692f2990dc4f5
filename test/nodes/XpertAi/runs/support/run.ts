import type { RunBody } from '../../../../../nodes/XpertAi/runs/input';
import { runAndWait } from '../../../../../nodes/XpertAi/runs/runAndWait';
import type { Run } from '../../../../../nodes/XpertAi/runs/run';
import type { Verdict } from '../../../../../nodes/XpertAi/runs/verdict';
import type { Send } from '../../../../../nodes/XpertAi/transport/request';
import { ModelServer, QUESTION, THREAD } from './modelServer';
import type { World } from './modelServer';
import { virtualTime } from '../../../support/virtualTime';
import type { VirtualTime } from '../../../support/virtualTime';

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;

const body = (input: object) => ({ assistant_id: 'a', input });

/** The body of E4 that says a text. */
export const saying = (input: string): RunBody =>
	body({ action: 'send', message: { input: { input } } });

/** Bodies of E4 of each kind. */
export const BODIES = {
	message: saying(QUESTION),
	decision: body({ action: 'resume', target: {}, decision: { type: 'confirm' } }),
	reject: body({ action: 'resume', target: {}, decision: { type: 'reject' } }),
	retry: body({ action: 'retry', source: {} }),
};

/** A server without numbers of runs, whose run is left to itself. */
export const UNNUMBERED = {
	...{ whenStopped: 'leave', whenLate: 'leave' },
	numbers: { areMissing: true },
} satisfies Partial<Run>;

/** How the node is asked to run. */
export interface Settings {
	whenBusy?: Run['whenBusy'];
	isNew?: boolean;
	deadlineMs?: number;
	stopAfterMs?: number;
	body?: RunBody;
	threadId?: string;
	/** A server of its own instead of the model. */
	send?: Send;
}

/** A verdict with all that could be seen of how it came about. */
export interface Course {
	verdict: Verdict;
	server: ModelServer;
	time: VirtualTime;
	/** When the verdict came. */
	tookMs: number;
	deadlineMs: number;
	/** When the thread was read. */
	reads: number[];
	/** The pieces that were heard while it went on. */
	heard: string[];
}

/** Runs a thread of a model server to its verdict. */
export async function run(world: World = {}, settings: Settings = {}): Promise<Course> {
	const { whenBusy = 'wait', isNew = false, deadlineMs = 15 * MINUTE, stopAfterMs } = settings;
	const time = virtualTime(stopAfterMs);
	const server = new ModelServer(world, time);
	const heard: string[] = [];
	const listener = { onText: (piece: string) => heard.push(piece), onFound: () => undefined };
	const verdict = await runAndWait({
		send: settings.send ?? server.send,
		threadId: settings.threadId ?? THREAD,
		body: settings.body ?? BODIES[world.kind ?? 'message'],
		isNew,
		whenBusy,
		...UNNUMBERED,
		...(world.isHeard && { listener }),
		deadline: time.now() + deadlineMs,
		clock: time,
		// What nobody stops has no signal either, as where n8n gives none.
		...(stopAfterMs !== undefined && { signal: time.signal }),
	});
	const tookMs = time.elapsed();
	const reads = server.of('E15').map(({ at }) => at);
	return { verdict, server, time, tookMs, deadlineMs, reads, heard };
}
