import { openConversation } from '../../../../../nodes/XpertAi/runs/openConversation';
import { runAndWait } from '../../../../../nodes/XpertAi/runs/runAndWait';
import type { Verdict } from '../../../../../nodes/XpertAi/runs/verdict';
import type { Send } from '../../../../../nodes/XpertAi/transport/request';
import type { VirtualTime } from '../../../support/virtualTime';
import { MINUTE, UNNUMBERED, saying } from './run';

/** The thread that a key leads to first. */
export const KEY_THREAD = 'the thread of the key';

/** What became of a message; without a verdict it was not sent, as no conversation could be had. */
export interface Said {
	threadId?: string;
	conversationId?: string;
	verdict?: Verdict;
}

/** Says a message under the key, in an execution of its own. */
export async function sayUnderKey(send: Send, time: VirtualTime, message: string): Promise<Said> {
	const given = { send, clock: time, signal: time.signal };
	const opened = await openConversation(given, KEY_THREAD, { title: message }, MINUTE);
	if (!opened || 'failure' in opened) return {};
	const verdict = await runAndWait({
		...given,
		threadId: opened.threadId,
		body: saying(message),
		isNew: false,
		whenBusy: 'wait',
		...UNNUMBERED,
		deadline: time.now() + 15 * MINUTE,
	});
	return { ...opened, verdict };
}
