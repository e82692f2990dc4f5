import { difference, filter, orderBy } from 'lodash';
import type { IDataObject, INodeExecutionData, IPollFunctions } from 'n8n-workflow';

import { operationError } from '../XpertAi/execution/apiError';
import { PAGE_SIZE } from '../XpertAi/execution/paging';
import { ParameterReader } from '../XpertAi/execution/parameterReader';
import { systemClock } from '../XpertAi/transport/clock';
import { connectionWithoutItem } from '../XpertAi/transport/request';
import { type ChangesReading, readChanges } from './readChanges';
import { triggerFields, type TriggerSettings, triggerSettingsSchema } from './fields';
import { makeItems, MAX_POLLS_PER_THREAD } from './items';
import {
	correctPollState,
	createPollState,
	nextPollState,
	type PollState,
	readPollState,
	triesOf,
	unhandledChanges,
} from './pollState';
import { changesFetcher, type ConversationChange } from './conversationChanges';

/**
 * Reads the parameters of the trigger.
 *
 * @throws NodeOperationError that names the invalid parameter
 */
export function readTriggerSettings(context: IPollFunctions): TriggerSettings {
	const resolve: ParameterReader['readWithoutChecks'] = (name, initial) =>
		context.getNodeParameter(name, initial);
	const reader = new ParameterReader(
		context.getNode(),
		triggerFields,
		resolve,
		'No poll was made.',
	);
	return reader.settings(triggerSettingsSchema);
}

/** The time limit of a poll, if n8n sets no lower limit. Recent versions of n8n abandon a poll after 45 s (default). */
const MAX_POLL_MS = 30_000;

/** The share of a poll's time for reading changes; the rest is for reading threads. */
const READING_SHARE = 0.8;

/** Collects the settings, the connection and the stored data of a poll. */
async function pollContext(context: IPollFunctions) {
	const settings = readTriggerSettings(context);
	const { send, server } = await connectionWithoutItem(context);
	const started = systemClock.now();
	// Older versions of n8n do not have `getPollBudgetMs`.
	const { getPollBudgetMs }: Partial<IPollFunctions> = context;
	const budgetMs = Math.min(MAX_POLL_MS, getPollBudgetMs?.call(context) ?? Infinity);
	return {
		context,
		settings,
		send,
		/**
		 * Fetches the changes with all assistants. So the state fits any selection: after the user selects another assistant,
		 * polls continue where the last one ended.
		 */
		fetchChanges: changesFetcher(context, send),
		/** The server that the state belongs to. */
		watched: server,
		/** The node's static data in n8n, which holds the state. */
		stored: context.getWorkflowStaticData('node'),
		/** Whether the poll has used less than `share` of its time. */
		hasTime: (share = 1) => systemClock.now() - started < share * budgetMs,
	};
}

type PollContext = Awaited<ReturnType<typeof pollContext>>;

/** The parameters of `pollWithState`. Only tests set `pageSize`. */
type PollParameters = Omit<PollContext, 'context'> & { pageSize?: number };

/**
 * Runs one poll. The first poll only stores the existing changes. A manual test returns the newest change and stores
 * nothing.
 *
 * @returns the items of new changes; null if there are none
 * @throws NodeApiError if a request failed and the poll made no progress
 * @throws NodeOperationError if a parameter is invalid, or if a manual test finds no change
 */
export async function poll(context: IPollFunctions): Promise<INodeExecutionData[][] | null> {
	const polling = await pollContext(context);
	if (context.getMode() === 'manual') return [[{ json: await newestChangeJson(polling) }]];
	const { watched, stored, fetchChanges } = polling;
	const state = readPollState(stored, watched);
	if (state) return await pollWithState(state, polling);
	Object.assign(stored, await createPollState(fetchChanges, watched));
	return null;
}

/** Returns the changes with an event and an assistant that the user selected. */
const wantedChanges = (changes: ConversationChange[], settings: TriggerSettings) =>
	changes.filter(({ event, assistantId }) => {
		const wanted = settings.assistantId ?? assistantId;
		return event && settings.events.includes(event) && isSameId(assistantId, wanted);
	});

const isSameId = (a?: string, b?: string) => a?.toLowerCase() === b?.toLowerCase();

/**
 * Runs a poll with the state of earlier polls. If the state must be corrected, stores the corrected state and reads
 * again.
 *
 * @returns the items of new changes; null if there are none
 * @throws NodeApiError if a request failed and the poll made no progress
 */
export async function pollWithState(
	state: PollState,
	polling: PollParameters,
): Promise<INodeExecutionData[][] | null> {
	const { fetchChanges, settings, stored, watched } = polling;
	const found = await readNewChanges(state, polling);
	const { changes, readError } = found;
	const corrected = readError === undefined && (await correctPollState(fetchChanges, state, found));
	if (corrected) {
		Object.assign(stored, corrected);
		return await pollWithState(corrected, polling);
	}
	const selected = wantedChanges(changes, settings);
	const wanted = unhandledChanges(state, selected);
	const { conversationsPerPoll } = settings.options;
	const { done, postponed } = await makeItems(wanted, polling, conversationsPerPoll, (change) =>
		triesOf(state, change),
	);
	// Do not use `await` below. Otherwise, an overlapping poll could emit the same changes.
	const latest = readPollState(stored, watched) ?? state;
	const newDone = unhandledChanges(latest, done);
	// Changes that the user did not select count as handled, so that another selection does not emit them.
	const notSelected = difference(filter(changes, 'event'), selected);
	const handled = [...newDone, ...notSelected];
	const next = nextPollState(latest, state, found, { wanted, handled, postponed });
	Object.assign(stored, next);
	// A handled change has no `json` if its conversation does not match `onlyWith`.
	const items = newDone.flatMap(({ json }) => (json ? [{ json }] : []));
	if (items.length > 0) return [items];
	// A poll with progress must not throw: some versions of n8n would drop the stored data.
	const hasProgressed = newDone.length + postponed.length > 0 || next.since > latest.since;
	if (readError !== undefined && !hasProgressed) throw readError;
	return null;
}

/** Reads changes until there are enough for one poll, or the time for reading is over. */
async function readNewChanges(
	state: PollState,
	polling: PollParameters,
): Promise<ChangesReading<ConversationChange>> {
	const { fetchChanges, settings, hasTime, pageSize = PAGE_SIZE } = polling;
	const isEnough = ({ changes, completeUntil }: ChangesReading<ConversationChange>) => {
		if (!hasTime(READING_SHARE)) return true;
		// Earlier polls have read up to `since`, so a poll that stops before it would bring nothing new.
		if (completeUntil < state.since) return false;
		const wanted = unhandledChanges(state, wantedChanges(changes, settings));
		return wanted.length >= settings.options.conversationsPerPoll;
	};
	// A page must hold all known changes and `pageSize` new changes. Otherwise, a poll with time for only one page
	// might read no new changes.
	const limit = pageSize + state.known.length;
	return await readChanges(fetchChanges, state.again, isEnough, limit);
}

/**
 * Returns the item of the newest change that matches the settings.
 *
 * @throws NodeOperationError if none of the newest conversations matches; NodeApiError if a request fails
 */
async function newestChangeJson(polling: PollContext): Promise<IDataObject> {
	const { context, settings, send } = polling;
	const fetchChanges = changesFetcher(context, send, settings.assistantId);
	const { changes } = await fetchChanges({ order: 'DESC', limit: PAGE_SIZE });
	for (const change of orderBy(wantedChanges(changes, settings), 'at', 'desc')) {
		// All tries count as used, so nothing is postponed: an unreadable thread gives an item without messages. A change
		// whose conversation does not match `onlyWith` gives no `json`.
		const { done } = await makeItems([change], polling, 1, () => MAX_POLLS_PER_THREAD);
		for (const { json } of done) if (json) return json;
	}
	throw operationError(context.getNode(), 'No conversation to show fits the settings', {
		description: `None of the ${PAGE_SIZE} conversations that changed last does. Choose other Events, or hold such a conversation and test again. Once published, the workflow starts for those to come.`,
	});
}
