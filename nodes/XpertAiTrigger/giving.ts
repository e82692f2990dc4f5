import compact from 'lodash/compact';
import uniq from 'lodash/uniq';
import type { IDataObject } from 'n8n-workflow';

import { systemClock } from '../XpertAi/transport/clock';
import type { Send } from '../XpertAi/transport/request';
import type { ConversationChange } from './conversations';
import { holdsText, itemJson, needsMessages } from './items';
import type { TriggerSettings } from './settings';
import { THREADS_AT_ONCE, readThreads } from './threads';
import type { ThreadMessages } from './threads';

/** A change that is dealt with, and the JSON of its item if it has one. */
export type Done = ConversationChange & { json?: IDataObject };

/** What became of changes; those in neither list were not come to. */
export interface Dealt {
	done: Done[];
	/** Those whose thread could not be read, which wait for the next poll. */
	unread: ConversationChange[];
}

/** How changes are dealt with. */
interface Giving {
	settings: TriggerSettings;
	send: Send;
	/** Whether there is time for more. */
	goOn: () => boolean;
	/** How many may be done. */
	most: number;
	/** Whether a change waits no longer for a thread that cannot be read. */
	isLastTry: (change: ConversationChange) => boolean;
}

/**
 * Makes the items of changes, in their order. One whose thread cannot be read holds up no later one; several
 * end it, as it is the server then that cannot be asked. The first are tried in any case.
 */
export async function makeItems(changes: ConversationChange[], giving: Giving): Promise<Dealt> {
	const { settings, goOn, most, isLastTry } = giving;
	const dealt: Dealt = { done: [], unread: [] };
	const { done, unread } = dealt;
	for (let rest = changes; rest.length > 0 && done.length < most; ) {
		const batch = rest.slice(0, most - done.length);
		rest = rest.slice(batch.length);
		const threads = await threadsOf(batch, giving);
		for (const change of batch) {
			const thread = threads(change);
			if (!thread) return dealt;
			if ('notRead' in thread && !isLastTry(change)) unread.push(change);
			else if (!holdsText(change, thread, settings)) done.push(change);
			else done.push({ ...change, json: itemJson(change, thread, settings) });
		}
		if (unread.length >= THREADS_AT_ONCE || !goOn()) break;
	}
	return dealt;
}

/** Reads the threads of changes, where what is to be given needs them; the function tells what was read of each. */
async function threadsOf(
	changes: ConversationChange[],
	{ settings, send, goOn }: Giving,
): Promise<(change: ConversationChange) => ThreadMessages | undefined> {
	const ids = needsMessages(settings) ? changes.map(({ threadId }) => threadId) : [];
	const read = await readThreads(uniq(compact(ids)), { send, clock: systemClock, goOn });
	return ({ threadId }) => (threadId && ids.length > 0 ? read.get(threadId) : { messages: [] });
}
