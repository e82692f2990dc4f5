import type { ThreadMessage } from '../XpertAi/payloads/run';
import { messagesOf } from '../XpertAi/runs/messages';
import { readThread } from '../XpertAi/runs/thread';
import type { Clock } from '../XpertAi/transport/clock';
import type { Failure } from '../XpertAi/transport/failure';
import { inLanes } from '../XpertAi/transport/lanes';
import { isTransient } from '../XpertAi/transport/meaning';
import type { Send } from '../XpertAi/transport/request';
import { SINGLE_REQUEST_LIMITS } from '../XpertAi/transport/retryPolicy';
import { sendWithRetries } from '../XpertAi/transport/sendWithRetries';

/** Threads read at once. */
const LANES = 5;

/** What is needed to read threads. */
export interface ThreadReader {
	send: Send;
	clock: Clock;
	/** Whether there is time for more. */
	goOn: () => boolean;
}

/** The messages of a thread, none where the server does not give them out; or why reading had to end. */
export type ThreadMessages = { messages?: ThreadMessage[] } | { failure: Failure };

/**
 * Reads the messages of threads (E15), a few at once, until one shows that the server cannot be asked.
 *
 * @returns what was read of each thread; those that were not come to are missing
 */
export async function readThreads(
	threadIds: string[],
	{ send, clock, goOn }: ThreadReader,
): Promise<Map<string, ThreadMessages>> {
	const patient: Send = async (request) => {
		const retried = { request, limits: SINGLE_REQUEST_LIMITS, repeatable: true, clock };
		return (await sendWithRetries(send, retried)).outcome;
	};
	const read = new Map<string, ThreadMessages>();
	let broken = false;
	await inLanes(
		threadIds,
		LANES,
		async (threadId) => {
			const reading = await readThread(patient, threadId);
			if ('state' in reading) read.set(threadId, { messages: messagesOf(reading.state) });
			else if (isAboutOne(reading.failure)) read.set(threadId, {});
			else read.set(threadId, reading);
			broken ||= 'failure' in (read.get(threadId) ?? {});
		},
		() => !broken && goOn(),
	);
	return read;
}

/**
 * Whether a failure is about this thread alone, which must not hold up all later ones for ever: one that
 * is gone or never ran, or whose messages are too much for the server or a proxy.
 */
function isAboutOne(failure: Failure): boolean {
	const { kind, status } = failure;
	if (kind === 'unreadable' || kind === 'timeout') return true;
	return kind === 'status' && status !== 401 && !isTransient(failure);
}
