import filter from 'lodash/filter';
import groupBy from 'lodash/groupBy';
import has from 'lodash/has';
import uniq from 'lodash/uniq';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { z } from 'zod';

import { timeoutSeconds } from '../../execution/declared';
import type { Item } from '../../execution/item';
import { keyIfGiven, keyOf } from '../../execution/keys';
import type { Execution } from '../../execution/operation';
import { mayContinue, addHints } from '../../execution/outputs';
import { SourceMemory } from '../../ingest/memory';
import { namedRows, switchDocuments } from '../../ingest/switchDocuments';
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
	/** `record`: fields to send beside the ID, because the server clears fields that are not sent. */
	const request = (one: { id: string; key?: string; record?: object }) => ({ ...source, ...one });
	if (item.setting('documentsBy', identifiedBy) === 'id')
		return item.ids('documentIds').map((id) => request({ id }));
	const key = keyOf(item, 'documentKey');
	const id = derivedId(keyOwner(knowledgebaseId, sourceName), key);
	// The name identifies the document in the server's list.
	return [request({ key, id, record: { name: key } })];
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
	const place = memoryPlaceOf(knowledgebaseId, { sourceName }, context);
	const source =
		sourceName === '' ? undefined : await new SourceMemory(place, routes).open('to read');
	const outcomes = new Map<string, IDataObject>();
	if (source?.refusal) return { outcomes, failure: source.refusal };
	const memory = source?.isUsable ? source : undefined;
	const ids = uniq(documents.map(({ id }) => id.toLowerCase()));
	const outcome = disabled ? 'disabled' : 'enabled';
	const onSwitched = (id: string, isThere: boolean) =>
		void outcomes.set(id, {
			outcome: isThere ? outcome : 'missing',
			...(memory && disabled && { known: memory.known.knows(id) }),
		});
	const unnamed = documents.filter(({ record }) => !has(record, 'name'));
	const names = await memory?.names.of(unnamed.map(({ id }) => id.toLowerCase()));
	const extraFields = namedRows(names ?? new Map());
	for (const { id: given, record } of documents) {
		const id = given.toLowerCase();
		extraFields.set(id, { ...extraFields.get(id), ...record });
	}
	// This works also while a run of the source is active: that run merges the note, or leaves it to the next one.
	const noteFailure = await memory?.noteByHand(ids, disabled);
	const requiredId = memory?.requiredId;
	const failure =
		noteFailure ??
		(await switchDocuments(ids, { disabled, requiredId, routes, extraFields, onSwitched }));
	// A document that the memory does not know may belong to another source.
	const unknown = filter([...outcomes.values()], { known: false }).length;
	const documentsWere = counted(unknown, 'document was', 'documents were');
	if (unknown > 0)
		addHints(context, [
			asHint(`${documentsWere} not known of this source. Check Source Name and the keys.`),
		]);
	if (memory) addHints(context, troubleHints(memory.troubles));
	return { outcomes, failure };
}
