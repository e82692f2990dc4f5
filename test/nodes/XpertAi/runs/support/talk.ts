import { openConversation } from '../../../../../nodes/XpertAi/runs/openConversation';
import type { RunResult } from '../../../../../nodes/XpertAi/runs/result';
import { withDeadline } from '../../../../../nodes/XpertAi/runs/run';
import { runAndWait } from '../../../../../nodes/XpertAi/runs/runThread';
import type { Send } from '../../../../../nodes/XpertAi/transport/request';
import type { VirtualTime } from '../../../support/virtualTime';
import { MINUTE, saying } from './run';

/** The thread that a key leads to first. */
export const KEY_THREAD = 'the thread of the key';

/** What became of a message; without a result it was not sent, as no conversation could be had. */
export interface Said {
	threadId?: string;
	conversationId?: string;
	result?: RunResult;
}

/** Says a message under the key, in an execution of its own. */
export async function sayUnderKey(send: Send, time: VirtualTime, message: string): Promise<Said> {
	const given = { send, clock: time, signal: time.signal };
	const opened = await openConversation(given, KEY_THREAD, { title: message }, MINUTE);
	if (!opened || 'failure' in opened) return {};
	const result = await runAndWait({
		...withDeadline({ ...given, deadline: time.now() + 15 * MINUTE }),
		threadId: opened.threadId,
		body: saying(message),
		...{ isNew: false, whenBusy: 'wait', whenStopped: 'leave', whenLate: 'leave' },
		...{ cancelSilentMs: 0, inOneRequest: false, routes: { areMissing: false } },
	});
	return { ...opened, result };
}
