import { messagesOf } from '../XpertAi/threads/messages';
import type { ThreadMessage } from '../XpertAi/threads/state';
import { readThreadWithRetries } from '../XpertAi/threads/thread';
import type { Asking } from '../XpertAi/threads/thread';
import { failureMessage } from '../XpertAi/transport/failure';
import { inLanes } from '../XpertAi/transport/lanes';

/** Threads read at once; when so many cannot be read, the server cannot be asked. */
export const THREADS_AT_ONCE = 5;

/** What is needed to read threads. */
export interface ThreadReader extends Asking {
	/** Whether there is time for more. */
	goOn: () => boolean;
}

/** The messages of a thread, or in words why they could not be read. */
export type ThreadMessages = { messages: ThreadMessage[] } | { notRead: string };

/**
 * Reads the messages of threads (E15), a few at once. Ends once as many as are read at once could not be. Some are tried in any case, however little time there is.
 *
 * @returns what was read of each thread; those that were not come to are missing
 */
export async function readThreads(
	threadIds: string[],
	{ send, clock, goOn }: ThreadReader,
): Promise<Map<string, ThreadMessages>> {
	const read = new Map<string, ThreadMessages>();
	let failed = 0;
	await inLanes(
		threadIds,
		THREADS_AT_ONCE,
		async (threadId) => {
			const messages = await messagesOn({ send, clock }, threadId);
			if ('notRead' in messages) failed += 1;
			read.set(threadId, messages);
		},
		() => read.size === 0 || (failed < THREADS_AT_ONCE && goOn()),
	);
	return read;
}

async function messagesOn(asking: Asking, threadId: string): Promise<ThreadMessages> {
	const reading = await readThreadWithRetries(asking, threadId);
	if ('failure' in reading) return { notRead: failureMessage(reading.failure) };
	return { messages: messagesOf(reading.state) };
}
