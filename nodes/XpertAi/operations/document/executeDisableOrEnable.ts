import { compact, every, filter, groupBy, map, partition, some, sortBy, uniq } from 'lodash';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { z } from 'zod';

import { keyOf } from '../../execution/identityFields';
import type { Item } from '../../execution/item';
import type { Execution } from '../../execution/operation';
import { addHints, mayContinue } from '../../execution/n8nExecution';
import { timeoutSecondsSchema } from '../../execution/runOperation';
import { SourceMemory } from '../../ingest/memory';
import { fetchStatuses } from '../../ingest/statuses';
import { disableOrEnableDocuments } from '../../ingest/disableOrEnableDocuments';
import { derivedId } from '../../payloads/ids';
import { DEFAULT_RETRY_LIMITS } from '../../transport/call';
import type { Failure } from '../../transport/failure';
import { executionCancelSignal } from '../../transport/request';
import { documentsError } from './submit/documentErrors';
import { memoryHints } from './submit/endHints';
import { keyNamespace, memoryPlaceOf, sourceNameAndShard } from './sourceIdentity';
import { systemClock } from '../../transport/clock';
import { knowledgebaseRoutes } from '../../transport/knowledgebaseRoutes';
import { countWithNoun, truncateHint } from './textHelpers';

const keyOrIdSchema = z.enum(['key', 'id']);

/** What the documents are to become. */
type DisabledOrEnabled = 'disabled' | 'enabled';

/**
 * Disables or enables documents, grouped by knowledgebase and source.
 *
 * @returns one item per document, in the order of the input items; an error item for each rejected input item, and for
 * each document whose request failed or was not sent after a failure; no item for a document that was left because the
 * execution was stopped
 * @throws NodeApiError or NodeOperationError of the first failure, if "On Error" is "Stop Workflow" or the execution
 * was stopped
 */
export async function executeDisableOrEnable(
	{ items }: Execution,
	state: DisabledOrEnabled,
): Promise<INodeExecutionData[]> {
	const [first] = items;
	if (!first) return [];
	const output: INodeExecutionData[] = [];
	const fail = (item: Item, caught: unknown) => {
		const error = item.asError(caught);
		if (!mayContinue(item.context)) throw error;
		output.push(item.failureOutput(error));
	};
	const requested = items.flatMap((item) => {
		try {
			item.checkSameCredential(first);
			return requestedDocuments(item);
		} catch (caught) {
			fail(item, caught);
			return [];
		}
	});
	const groups = groupBy(requested, ({ knowledgebaseId, sourceName }) =>
		JSON.stringify([knowledgebaseId, sourceName]),
	);
	for (const group of Object.values(groups)) {
		const { outcomes, failure } = await disableOrEnableGroup(first, group, state);
		for (const { item, id, key } of group) {
			const outcome = outcomes.get(id.toLowerCase());
			if (outcome) output.push(item.output({ ...(key && { key }), id, ...outcome }));
			else if (failure) fail(item, documentsError(item, failure));
		}
	}
	addHints(first.context, compact([noneOnServerHint(map(output, 'json'))]));
	return sortBy(output, 'pairedItem.item');
}

/** A hint if the server has none of the documents, unless another hint says that the source does not know them. */
function noneOnServerHint(outcomes: IDataObject[]): string | undefined {
	const areMissing = outcomes.length > 0 && every(outcomes, { outcome: 'missing' });
	if (!areMissing || some(outcomes, { known: false })) return undefined;
	const fields = some(outcomes, 'key')
		? '"Knowledgebase", "Source Name" and the keys'
		: '"Knowledgebase" and the IDs';
	return `The server has none of these documents: check ${fields}.`;
}

/** The documents of an item, identified by key or by ID. */
function requestedDocuments(item: Item) {
	const knowledgebaseId = item.filledText('knowledgebaseId');
	const { sourceName } = sourceNameAndShard(item);
	const isByKey = item.setting('documentsBy', keyOrIdSchema) === 'key';
	const key = isByKey ? keyOf(item, 'documentKey') : undefined;
	const idNamespace = keyNamespace(knowledgebaseId, sourceName);
	const ids = key ? [derivedId(idNamespace, key)] : item.ids('documentIds');
	return ids.map((id) => ({ item, knowledgebaseId, sourceName, key, id }));
}

type RequestedDocument = ReturnType<typeof requestedDocuments>[number];

/** What became of documents, by document ID in lower case. */
type Outcomes = Map<string, IDataObject>;

/**
 * Disables or enables documents of one knowledgebase and source.
 *
 * @param first the item whose connection and timeout apply to all documents
 * @returns `failure` says why some documents have no outcome
 */
async function disableOrEnableGroup(
	first: Item,
	documents: RequestedDocument[],
	state: DisabledOrEnabled,
): Promise<{ outcomes: Outcomes; failure?: Failure }> {
	const { context, connection } = first;
	const [{ knowledgebaseId = '', sourceName = '' } = {}] = documents;
	const timeoutMs = first.setting('options.timeout', timeoutSecondsSchema) * 1000;
	const limits = { timeoutMs, retryLimits: DEFAULT_RETRY_LIMITS };
	const client = {
		send: connection.send,
		clock: systemClock,
		signal: executionCancelSignal(context),
	};
	const routes = knowledgebaseRoutes(knowledgebaseId, client, limits);
	// Without a Source Name, the memory belongs to the node that submits, so this node cannot find it. A shard has a
	// memory of its own, which is not read.
	const place = memoryPlaceOf(knowledgebaseId, { sourceName, shard: '' }, context);
	const source = sourceName ? await new SourceMemory(place, routes).open('to read') : undefined;
	if (source?.sendBlockedBy) return { outcomes: new Map(), failure: source.sendBlockedBy };
	const memory = source?.isUsable ? source : undefined;
	const ids = uniq(documents.map(({ id }) => id.toLowerCase()));
	const { statuses, failure: unread } = await fetchStatuses(ids, routes, memory?.requiredId);
	if (unread) return { outcomes: new Map(), failure: unread };
	const [present, missing] = partition(ids, (id) => statuses.has(id));
	const outcomes: Outcomes = new Map();
	const isDisabling = state === 'disabled';
	const addOutcome = (id: string, outcome: string) =>
		outcomes.set(id, { outcome, ...(isDisabling && memory && { known: memory.known.knows(id) }) });
	for (const id of missing) addOutcome(id, 'missing');
	const keys = new Map(documents.map(({ id, key }) => [id.toLowerCase(), key]));
	const names = await memory?.names.of(present);
	const failure = await disableOrEnableDocuments(present, {
		disabled: isDisabling,
		routes,
		// Sends the name, because the server clears omitted fields. Without a remembered name, the key is the name.
		fieldsOf: (id) => ({ name: names?.get(id)?.name ?? keys.get(id) }),
		onChanged: (id) => addOutcome(id, state),
	});
	addHints(context, disableOrEnableHints([...outcomes.values()], memory));
	return { outcomes, failure };
}

/** Hints about documents that were disabled or enabled, and about the memory of their source. */
function disableOrEnableHints(outcomes: IDataObject[], memory?: SourceMemory): string[] {
	const unknown = filter(outcomes, { known: false }).length;
	const enabled = filter(outcomes, { outcome: 'enabled' }).length;
	const unknownHint = `${countWithNoun(unknown, 'document was', 'documents were')} not known of this source (one of a Shard never is). Check Knowledgebase, Source Name and the keys.`;
	return compact([
		unknown > 0 && truncateHint(unknownHint),
		enabled > 0 && enabledHint(enabled, memory?.lastRunOnlyStored),
		...memoryHints(memory?.failures ?? {}),
	]);
}

/**
 * Returns a hint that enabled documents have lost their fields. Enable sends only the ID and the name, and the server
 * clears all other fields.
 *
 * @param lastRunOnlyStored whether Submit treats a document without a processing status as unchanged
 */
function enabledHint(count: number, lastRunOnlyStored = false): string {
	const [them, are] = count === 1 ? ['it', 'it is'] : ['them', 'they are'];
	const how = lastRunOnlyStored ? 'Submit with Resend All sends' : 'The next Submit sends';
	return `Enabled without metadata and address: filters do not find ${them} until ${are} submitted again. ${how} ${them}.`;
}
