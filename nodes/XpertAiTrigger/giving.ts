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

/** In how many polls a thread is tried before its change is given without the messages. */
export const THREAD_TRIES = 3;

/** A change that is dealt with, and the JSON of its item if it has one. */
export type Done = ConversationChange & { json?: IDataObject };

/** What became of changes; those in neither list were not come to. */
export interface Dealt {
	done: Done[];
	/** Those whose thread could not be read, or that may not be over, which wait for the next poll. */
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
	/** In how many polls a change was tried before. */
	triesOf: (change: ConversationChange) => number;
}

/**
 * Makes the items of changes, in their order. One whose thread cannot be read holds up no later one; several
 * end it, as it is the server then that cannot be asked. The first are tried in any case.
 */
export async function makeItems(changes: ConversationChange[], giving: Giving): Promise<Dealt> {
	const { settings, goOn, most, triesOf } = giving;
	const dealt: Dealt = { done: [], unread: [] };
	const { done, unread } = dealt;
	let failed = 0;
	for (let rest = changes; rest.length > 0 && done.length < most; ) {
		const batch = rest.slice(0, most - done.length);
		rest = rest.slice(batch.length);
		const threads = await threadsOf(batch, giving);
		for (const change of batch) {
			const thread = threads(change);
			if (!thread) return dealt;
			const tries = triesOf(change);
			const isFailed = 'notRead' in thread && tries + 1 < THREAD_TRIES;
			if (isFailed) failed += 1;
			if (isFailed || (mayGoOn(change) && tries === 0)) unread.push(change);
			else if (!holdsText(change, thread, settings)) done.push(change);
			else done.push({ ...change, json: itemJson(change, thread, settings) });
		}
		if (failed >= THREADS_AT_ONCE || !goOn()) break;
	}
	return dealt;
}

/**
 * Whether a change may be a mark of a moment: one of two runs at once that gives way is cancelled, and its conversation
 * says so until the other has ended, or it has begun again (recorded, turns.json).
 */
function mayGoOn({ event }: ConversationChange): boolean {
	return event === 'cancelled';
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
