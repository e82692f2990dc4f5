import filter from 'lodash/filter';
import groupBy from 'lodash/groupBy';
import partition from 'lodash/partition';
import uniq from 'lodash/uniq';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { z } from 'zod';

import { timeoutSeconds } from '../../execution/runOperation';
import type { Item } from '../../execution/item';
import { keyIfGiven, keyOf } from '../../execution/keys';
import type { Execution } from '../../execution/operation';
import { mayContinue, addHints } from '../../execution/outputs';
import { SourceMemory } from '../../ingest/memory';
import { fetchStatuses } from '../../ingest/processingStatus';
import { switchDocuments } from '../../ingest/switchDocuments';
import { derivedId } from '../../payloads/derivedId';
import { cancelSignal } from '../../transport/request';
import { SINGLE_REQUEST_LIMITS } from '../../transport/call';
import { keyOwner, knowledgebaseRoutes, memoryPlaceOf, troubleHints } from './submit/knowledgebase';
import { knowledgebaseError } from './submit/outcomes';
import { asHint, counted } from './submit/wording';

const identifiedBy = z.enum(['key', 'id']);

/**
 * Disables or enables the documents of all items, together for each knowledgebase and source.
 *
 * @throws NodeApiError or NodeOperationError with Stop, for the first item that failed
 */
export async function switchAll(
	{ items }: Execution,
	disabled: boolean,
): Promise<INodeExecutionData[]> {
	const [first] = items;
	if (!first) return [];
	const output: INodeExecutionData[][] = items.map(() => []);
	const fail = (item: Item, caught: unknown) => {
		const error = item.asError(caught);
		if (!mayContinue(item.context)) throw error;
		output[item.index]?.push(item.failed(error));
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
		const { outcomes, failure } = await switchGroup(first, group, disabled);
		for (const { item, id, key } of group) {
			const outcome = outcomes.get(id.toLowerCase());
			if (outcome) output[item.index]?.push(item.output({ ...(key && { key }), id, ...outcome }));
			else if (failure) fail(item, knowledgebaseError(item, failure));
		}
	}
	return output.flat();
}

/** The documents that an item asks to switch, each with its source, whose name is empty if none is given. */
function requestedDocuments(item: Item) {
	const knowledgebaseId = item.id('knowledgebaseId');
	const sourceName = keyIfGiven(item, 'sourceName') ?? '';
	const source = { item, knowledgebaseId, sourceName };
	const request = (one: { id: string; key?: string }) => ({ ...source, ...one });
	if (item.setting('documentsBy', identifiedBy) === 'id')
		return item.ids('documentIds').map((id) => request({ id }));
	const key = keyOf(item, 'documentKey');
	return [request({ key, id: derivedId(keyOwner(knowledgebaseId, sourceName), key) })];
}

type RequestedDocument = ReturnType<typeof requestedDocuments>[number];

/**
 * Switches documents of one knowledgebase and, if it is named, of one source.
 *
 * @returns their outcomes by ID in lower case, and why the rest was not switched
 */
async function switchGroup(first: Item, documents: RequestedDocument[], disabled: boolean) {
	const { context, send } = first;
	const [{ knowledgebaseId = '', sourceName = '' } = {}] = documents;
	const timeoutMs = first.setting('options.timeout', timeoutSeconds) * 1000;
	const limits = { timeoutMs, retryLimits: SINGLE_REQUEST_LIMITS };
	const routes = knowledgebaseRoutes(knowledgebaseId, send, limits, cancelSignal(context));
	const place = memoryPlaceOf(knowledgebaseId, { sourceName, shard: '' }, context);
	const source =
		sourceName === '' ? undefined : await new SourceMemory(place, routes).open('to read');
	const outcomes = new Map<string, IDataObject>();
	if (source?.refusal) return { outcomes, failure: source.refusal };
	const memory = source?.isUsable ? source : undefined;
	const ids = uniq(documents.map(({ id }) => id.toLowerCase()));
	const { statuses, failure: notAsked } = await fetchStatuses(ids, routes, memory?.requiredId);
	if (notAsked) return { outcomes, failure: notAsked };
	const addOutcome = (id: string, outcome: string) => {
		const known = memory && disabled ? { known: memory.known.knows(id) } : {};
		outcomes.set(id, { outcome, ...known });
	};
	const [present, missing] = partition(ids, (id) => statuses.has(id));
	for (const id of missing) addOutcome(id, 'missing');
	const keys = new Map(documents.map(({ id, key }) => [id.toLowerCase(), key]));
	const names = await memory?.names.of(present.filter((id) => keys.get(id) === undefined));
	const failure = await switchDocuments(present, {
		disabled,
		routes,
		// The server clears fields that are not sent, and its list shows the name.
		fieldsOf: (id) => ({ name: keys.get(id) ?? names?.get(id)?.name }),
		onSwitched: (id) => addOutcome(id, disabled ? 'disabled' : 'enabled'),
	});
	// A document that the memory does not know may belong to another source.
	const unknown = filter([...outcomes.values()], { known: false }).length;
	const documentsWere = counted(unknown, 'document was', 'documents were');
	if (unknown > 0)
		addHints(context, [
			asHint(
				`${documentsWere} not known of this source. Check Knowledgebase, Source Name and the keys.`,
			),
		]);
	if (memory) addHints(context, troubleHints(memory.troubles));
	return { outcomes, failure };
}
