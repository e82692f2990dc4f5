import compact from 'lodash/compact';
import orderBy from 'lodash/orderBy';
import takeWhile from 'lodash/takeWhile';
import uniq from 'lodash/uniq';
import type { IDataObject, INodeExecutionData, IPollFunctions } from 'n8n-workflow';

import { operationError } from '../XpertAi/execution/operationError';
import { PAGE_SIZE } from '../XpertAi/execution/paging';
import { systemClock } from '../XpertAi/transport/clock';
import { toNodeApiError } from '../XpertAi/transport/failure';
import { CREDENTIAL_NAME } from '../XpertAi/transport/api';
import { createSend } from '../XpertAi/transport/request';
import type { Send } from '../XpertAi/transport/request';
import { searchChanges } from './conversations';
import type { ConversationChange } from './conversations';
import { holdsText, isWanted, itemJson, needsMessages } from './items';
import { beginning, floorOf, memorySchema, newChanges, remembering } from './memory';
import type { Memory } from './memory';
import { readChanges } from './reading';
import type { FetchChanges } from './reading';
import { readSettings } from './settings';
import type { TriggerSettings } from './settings';
import { readThreads } from './threads';

/** How long a poll looks for more before it gives what it has. Hosts give up on polls after about as long. */
const LONGEST_POLL_MS = 30_000;

/** What a poll works with. */
interface Polling {
	context: IPollFunctions;
	settings: TriggerSettings;
	send: Send;
	fetchChanges: FetchChanges<ConversationChange>;
	/** Whether there is time for more. */
	goOn: () => boolean;
}

/**
 * One poll: the changes since the last one, or nothing. The first one only remembers what is there; a
 * manual test shows the newest change and remembers nothing.
 *
 * @throws NodeApiError or NodeOperationError when it has nothing to give because it could not ask
 */
export async function poll(context: IPollFunctions): Promise<INodeExecutionData[][] | null> {
	const settings = readSettings(context);
	const send = await createSend(context);
	const until = systemClock.now() + Math.min(LONGEST_POLL_MS, hostBudgetMs(context));
	const polling: Polling = {
		context,
		settings,
		send,
		fetchChanges: searchChanges(context, send, settings.assistantId),
		goOn: () => systemClock.now() < until,
	};
	if (context.getMode() === 'manual') return [[{ json: await newest(polling) }]];
	const memory = recalled(polling);
	if (memory) return await pollSince(memory, polling);
	remember(polling, await begin(polling));
	return null;
}

/** How long n8n lets a poll take; older hosts neither limit it nor say so. */
function hostBudgetMs(context: Partial<IPollFunctions>): number {
	return context.getPollBudgetMs?.() ?? Infinity;
}

async function pollSince(memory: Memory, polling: Polling): Promise<INodeExecutionData[][] | null> {
	const { fetchChanges, settings, goOn } = polling;
	const most = settings.options.conversationsPerPoll;
	const wantedOf = (changes: ConversationChange[]) =>
		changes.filter((change) => isWanted(change, settings));
	const reading = await readChanges(fetchChanges, floorOf(memory.since), {
		isEnough: (changes) => !goOn() || newChanges(memory, wantedOf(changes)).length >= most,
	});
	const wanted = wantedOf(reading.changes);
	const { done, failure = reading.failure } = await dealWith(
		newChanges(memory, wanted).slice(0, most),
		polling,
	);
	// From here on nothing is waited for: a slow poll may overlap the next one, and what one has given
	// the other must see.
	const latest = recalled(polling) ?? memory;
	const handled = newChanges(latest, done);
	const now = systemClock.now();
	remember(polling, remembering(latest, { wanted, upTo: reading.upTo, handled, now }));
	const items = handled.flatMap(({ json }) => (json ? [{ json }] : []));
	if (items.length > 0) return [items];
	if (failure !== undefined) throw failure;
	return null;
}

/** A change that is dealt with, and the JSON of its item if it has one. */
type Done = ConversationChange & { json?: IDataObject };

/** Makes the items of changes, one after another, until the thread of one cannot be read. */
async function dealWith(
	changes: ConversationChange[],
	{ context, settings, send, goOn }: Polling,
): Promise<{ done: Done[]; failure?: unknown }> {
	const isNeeded = needsMessages(settings);
	const threadIds = isNeeded ? uniq(compact(changes.map(({ threadId }) => threadId))) : [];
	const read = await readThreads(threadIds, { send, clock: systemClock, goOn });
	const threadOf = ({ threadId }: ConversationChange) =>
		isNeeded && threadId ? read.get(threadId) : {};
	const done = takeWhile(changes, (change) => {
		const thread = threadOf(change);
		return thread !== undefined && !('failure' in thread);
	}).map((change): Done => {
		const thread = threadOf(change);
		const messages = thread && 'messages' in thread ? thread.messages : undefined;
		if (!holdsText(change, messages ?? [], settings)) return change;
		return { ...change, json: itemJson(change, messages, settings) };
	});
	for (const thread of read.values()) {
		if (!('failure' in thread)) continue;
		return { done, failure: toNodeApiError(thread.failure, { node: context.getNode() }) };
	}
	return { done };
}

/** Remembers what is there when the workflow is activated, of whatever event, by the time of the server. */
async function begin({ context, settings, fetchChanges }: Polling): Promise<Memory> {
	const now = systemClock.now();
	const [last] = await fetchChanges({ order: 'DESC', limit: 1 });
	const reading = await readChanges(fetchChanges, floorOf(Math.min(last?.at || 0, now)));
	if (reading.failure !== undefined) throw reading.failure;
	const { changes: there, upTo } = reading;
	return beginning(watchedBy(context, settings), { wanted: there, upTo, now });
}

/** The newest change the workflow would start for. */
async function newest(polling: Polling): Promise<IDataObject> {
	const { context, settings, fetchChanges } = polling;
	const page = await fetchChanges({ order: 'DESC', limit: PAGE_SIZE });
	const wanted = page.filter((change) => isWanted(change, settings));
	for (const change of orderBy(wanted, 'at', 'desc')) {
		const { done, failure } = await dealWith([change], polling);
		if (failure !== undefined) throw failure;
		const json = done[0]?.json;
		if (json) return json;
	}
	throw operationError(context.getNode(), 'No conversation to show fits the settings', {
		description: `None of the ${PAGE_SIZE} conversations that changed last does. Choose other Events, or hold such a conversation and test again. Once active, the workflow starts for those to come.`,
	});
}

/** What the memory is about. Another credential or assistant has other conversations. */
function watchedBy(context: IPollFunctions, { assistantId = '' }: TriggerSettings): string {
	const credentialId = context.getNode().credentials?.[CREDENTIAL_NAME]?.id ?? '';
	return JSON.stringify([credentialId, assistantId]);
}

/** What the polls before have left, if it is about the same. */
function recalled({ context, settings }: Polling): Memory | undefined {
	const { data } = memorySchema.safeParse(context.getWorkflowStaticData('node'));
	return data?.watched === watchedBy(context, settings) ? data : undefined;
}

function remember({ context }: Polling, memory: Memory): void {
	Object.assign(context.getWorkflowStaticData('node'), memory);
}
