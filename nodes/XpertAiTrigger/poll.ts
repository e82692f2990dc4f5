import orderBy from 'lodash/orderBy';
import type {
	IDataObject,
	INodeExecutionData,
	IPollFunctions,
	NodeParameterValueType,
} from 'n8n-workflow';

import { issueMessage, type Refuse } from '../XpertAi/execution/inputIssues';
import { operationError } from '../XpertAi/execution/outputs';
import { PAGE_SIZE } from '../XpertAi/execution/paging';
import { fixedExpression } from '../XpertAi/execution/rawParameters';
import { readSettings } from '../XpertAi/execution/values';
import { CREDENTIAL_NAME } from '../XpertAi/transport/api';
import { systemClock } from '../XpertAi/transport/clock';
import { readCredential, readRequestTarget } from '../XpertAi/transport/credential';
import { createSend } from '../XpertAi/transport/request';
import { searchChanges, type ConversationChange } from './conversations';
import { makeItems, THREAD_TRIES } from './items';
import { triggerFields, triggerSettings, type TriggerSettings } from './fields';
import {
	correctMemory,
	firstMemory,
	newChanges,
	nextMemory,
	readMemory,
	readPollChanges,
	triesOf,
} from './changes';
import type { Memory } from './changes';

/**
 * Reads the parameters of the trigger.
 *
 * @throws NodeOperationError naming the parameter and the requirement
 */
export function readTriggerSettings(context: IPollFunctions): TriggerSettings {
	const node = context.getNode();
	const refuse: Refuse = (flaw) => {
		const { fix = 'Correct the value, or the expression it comes from.' } = flaw;
		throw operationError(node, issueMessage(flaw), { description: `No poll was made. ${fix}` });
	};
	const read = (name: string, initial: NodeParameterValueType): unknown => {
		const flaw = fixedExpression(node, name, triggerFields);
		return flaw ? refuse(flaw) : context.getNodeParameter(name, initial);
	};
	return readSettings(triggerSettings, triggerFields, read, refuse);
}

/** Longest poll. Hosts give up on polls after about as long. */
const MAX_POLL_MS = 30_000;

/** The share of a poll's time in which changes are read. The rest is for threads. */
const READING_SHARE = 0.8;

/** What a poll needs. */
async function pollContext(context: IPollFunctions) {
	const settings = readTriggerSettings(context);
	const send = await createSend(context);
	const started = systemClock.now();
	// Older hosts neither limit a poll nor have this function.
	const { getPollBudgetMs }: Partial<IPollFunctions> = context;
	const budgetMs = Math.min(MAX_POLL_MS, getPollBudgetMs?.call(context) ?? Infinity);
	const credentialId = context.getNode().credentials?.[CREDENTIAL_NAME]?.id ?? '';
	const target = readRequestTarget(await readCredential(context));
	// The address contains neither user name nor password.
	const server = 'root' in target ? target.root : '';
	return {
		context,
		settings,
		send,
		fetchChanges: searchChanges(context, send, settings.assistantId),
		/** Identifies credential, assistant and server, which the memory belongs to. */
		watched: JSON.stringify([credentialId, settings.assistantId ?? '', server]),
		/** What the polls of this workflow store. */
		stored: context.getWorkflowStaticData('node'),
		/** Whether less than this share of the poll's time has passed; default all of it. */
		hasTime: (share = 1) => systemClock.now() - started < share * budgetMs,
	};
}

type PollContext = Awaited<ReturnType<typeof pollContext>>;

/** What a poll after the first needs; tests have shorter pages. */
type Polling = Omit<PollContext, 'context'> & { pageSize?: number };

/**
 * Runs one poll. @returns the changes since the last one; null if there are none. The first poll only stores what
 * exists; a manual test returns the newest change and stores nothing.
 *
 * @throws NodeApiError or NodeOperationError if it made no progress because a request failed
 */
export async function poll(context: IPollFunctions): Promise<INodeExecutionData[][] | null> {
	const polling = await pollContext(context);
	if (context.getMode() === 'manual') return [[{ json: await newestItem(polling) }]];
	const { watched, stored, fetchChanges } = polling;
	const memory = readMemory(stored, watched);
	if (memory) return await pollSince(memory, polling);
	Object.assign(stored, await firstMemory(fetchChanges, watched));
	return null;
}

/** The changes that the workflow starts for, as far as their records tell. */
const wantedChanges = (changes: ConversationChange[], { events }: TriggerSettings) =>
	changes.filter(({ event }) => event && events.includes(event));

/** Runs a poll after the first. */
export async function pollSince(
	memory: Memory,
	polling: Polling,
): Promise<INodeExecutionData[][] | null> {
	const { fetchChanges, settings, hasTime, pageSize, stored, watched } = polling;
	const most = settings.options.conversationsPerPoll;
	const wantedOf = (changes: ConversationChange[] = []) =>
		newChanges(memory, wantedChanges(changes, settings));
	const isOver = (changes?: ConversationChange[]) =>
		!hasTime(READING_SHARE) || wantedOf(changes).length >= most;
	const lot = systemClock.random();
	const found = await readPollChanges(fetchChanges, memory, isOver, { lot, pageSize });
	const { changes, failure } = found;
	const corrected = failure === undefined && (await correctMemory(fetchChanges, memory, found));
	if (corrected) {
		Object.assign(stored, corrected);
		return await pollSince(corrected, polling);
	}
	const wanted = wantedOf(changes);
	const { done, unread } = await makeItems(wanted, polling, most, (one) => triesOf(memory, one));
	// No `await` from here on: a slow poll may overlap the next, and each must see what the other emitted.
	const latest = readMemory(stored, watched) ?? memory;
	const handled = newChanges(latest, done);
	const next = nextMemory(latest, memory, found, { wanted, handled, unread });
	Object.assign(stored, next);
	const items = handled.flatMap(({ json }) => (json ? [{ json }] : []));
	if (items.length > 0) return [items];
	// Some hosts drop the static data of a poll that throws.
	const hasProgressed = handled.length + unread.length > 0 || next.since > latest.since;
	if (failure !== undefined && !hasProgressed) throw failure;
	return null;
}

/** The item of the newest change that the workflow would start for. */
async function newestItem(polling: PollContext): Promise<IDataObject> {
	const { context, settings, fetchChanges } = polling;
	const { changes } = await fetchChanges({ order: 'DESC', limit: PAGE_SIZE });
	for (const change of orderBy(wantedChanges(changes, settings), 'at', 'desc')) {
		const { done } = await makeItems([change], polling, 1, () => THREAD_TRIES);
		const json = done[0]?.json;
		if (json) return json;
	}
	throw operationError(context.getNode(), 'No conversation to show fits the settings', {
		description: `None of the ${PAGE_SIZE} conversations that changed last does. Choose other Events, or hold such a conversation and test again. Once active, the workflow starts for those to come.`,
	});
}
