import orderBy from 'lodash/orderBy';
import type { IDataObject, INodeExecutionData, IPollFunctions } from 'n8n-workflow';

import { operationError } from '../XpertAi/execution/outputs';
import { PAGE_SIZE } from '../XpertAi/execution/paging';
import { CREDENTIAL_NAME } from '../XpertAi/transport/api';
import { systemClock } from '../XpertAi/transport/clock';
import { readCredential, readTarget } from '../XpertAi/transport/credential';
import { createSend } from '../XpertAi/transport/request';
import type { Send } from '../XpertAi/transport/request';
import { searchChanges } from './conversations';
import type { ConversationChange } from './conversations';
import { makeItems, THREAD_TRIES, isWanted } from './items';
import { beginning, freshTo, nameOf, newChanges, readMemory, remembering, triesOf } from './memory';
import type { Memory } from './memory';
import { readRecent, readOn } from './changes';
import type { FetchChanges } from './changes';
import { readTriggerSettings } from './settings';
import type { TriggerSettings } from './settings';

/** How long a poll looks for more before it gives what it has. Hosts give up on polls after about as long. */
const LONGEST_POLL_MS = 30_000;

/** What a poll works with. */
interface Polling {
	context: IPollFunctions;
	settings: TriggerSettings;
	send: Send;
	fetchChanges: FetchChanges<ConversationChange>;
	/** What the memory is about: the conversations of another server, credential or assistant are others. */
	watched: string;
	/** Whether less than this share of the time has passed, all of it when none is given. */
	hasTime: (share?: number) => boolean;
}

/**
 * One poll: the changes since the last one, or nothing. The first one only remembers what is there; a
 * manual test shows the newest change and remembers nothing.
 *
 * @throws NodeApiError or NodeOperationError when it has got no further because it could not ask
 */
export async function poll(context: IPollFunctions): Promise<INodeExecutionData[][] | null> {
	const settings = readTriggerSettings(context);
	const send = await createSend(context);
	const started = systemClock.now();
	// Older hosts neither limit a poll nor say how long it may take.
	const { getPollBudgetMs }: Partial<IPollFunctions> = context;
	const budgetMs = Math.min(LONGEST_POLL_MS, getPollBudgetMs?.call(context) ?? Infinity);
	const polling: Polling = {
		context,
		settings,
		send,
		fetchChanges: searchChanges(context, send, settings.assistantId),
		watched: await watchedBy(context, settings),
		hasTime: (share = 1) => systemClock.now() - started < share * budgetMs,
	};
	if (context.getMode() === 'manual') return [[{ json: await newest(polling) }]];
	const memory = recalled(polling);
	if (memory) return await pollSince(memory, polling);
	remember(polling, await begin(polling));
	return null;
}

/** What the memory is about. The address is no secret: it holds neither a user name nor a password. */
async function watchedBy(
	context: IPollFunctions,
	{ assistantId = '' }: TriggerSettings,
): Promise<string> {
	const credentialId = context.getNode().credentials?.[CREDENTIAL_NAME]?.id ?? '';
	const target = readTarget(await readCredential(context));
	return JSON.stringify([credentialId, assistantId, 'root' in target ? target.root : '']);
}

async function pollSince(memory: Memory, polling: Polling): Promise<INodeExecutionData[][] | null> {
	const { fetchChanges, settings, send, hasTime } = polling;
	const most = settings.options.conversationsPerPoll;
	const wantedOf = (changes: ConversationChange[]) =>
		changes.filter((change) => isWanted(change, settings));
	const isFresh = freshTo(memory);
	const counting = () => {
		const names = new Set<string>();
		return (changes: ConversationChange[]) => {
			for (const change of wantedOf(changes).filter(isFresh)) names.add(nameOf(change));
			return names.size >= most;
		};
	};
	const { changes, failure, ...progress } = await readOn(fetchChanges, memory, {
		counting,
		hasTime,
	});
	const wanted = wantedOf(changes);
	const { done, unread } = await makeItems(newChanges(memory, wanted), {
		...{ settings, send, most, goOn: hasTime },
		triesOf: (change) => triesOf(memory, change),
	});
	// From here on nothing is waited for: a slow poll may overlap the next one, and what one has given
	// the other must see.
	const latest = recalled(polling) ?? memory;
	const handled = newChanges(latest, done);
	const now = systemClock.now();
	const next = remembering(latest, memory, { ...progress, wanted, handled, unread, now });
	remember(polling, next);
	const items = handled.flatMap(({ json }) => (json ? [{ json }] : []));
	if (items.length > 0) return [items];
	// Some hosts forget what a poll that ends in an error has remembered.
	const gotOn = handled.length + unread.length > 0 || next.since > latest.since;
	if (failure !== undefined && !gotOn) throw failure;
	return null;
}

/** Remembers what is there when the workflow is activated, of whatever event, by the time of the server. */
async function begin({ watched, fetchChanges, hasTime }: Polling): Promise<Memory> {
	const now = systemClock.now();
	const { failure, ...there } = await readRecent(fetchChanges, { now, goOn: hasTime });
	if (failure !== undefined) throw failure;
	return beginning(watched, there);
}

/** The newest change the workflow would start for. */
async function newest(polling: Polling): Promise<IDataObject> {
	const { context, settings, send, fetchChanges, hasTime } = polling;
	const page = await fetchChanges({ order: 'DESC', limit: PAGE_SIZE });
	const wanted = page.filter((change) => isWanted(change, settings));
	for (const change of orderBy(wanted, 'at', 'desc')) {
		const making = { settings, send, most: 1, goOn: hasTime, triesOf: () => THREAD_TRIES };
		const { done } = await makeItems([change], making);
		const json = done[0]?.json;
		if (json) return json;
	}
	throw operationError(context.getNode(), 'No conversation to show fits the settings', {
		description: `None of the ${PAGE_SIZE} conversations that changed last does. Choose other Events, or hold such a conversation and test again. Once active, the workflow starts for those to come.`,
	});
}

/** What the polls before have left, if it is about the same. */
function recalled({ context, watched }: Polling): Memory | undefined {
	return readMemory(context.getWorkflowStaticData('node'), watched);
}

function remember({ context }: Polling, memory: Memory): void {
	Object.assign(context.getWorkflowStaticData('node'), memory);
}
