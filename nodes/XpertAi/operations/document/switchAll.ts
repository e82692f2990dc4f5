import has from 'lodash/has';
import uniq from 'lodash/uniq';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { z } from 'zod';

import { keyIfGiven, keyOf } from '../../execution/keys';
import { timeoutSeconds } from '../../execution/declared';
import type { Item } from '../../execution/item';
import type { Execution } from '../../execution/operation';
import { mayContinue, tellUser } from '../../execution/outputs';
import { namedRows, switchDocuments } from '../../ingest/switchDocuments';
import { SourceMemory } from '../../ingest/memory';
import { uuid } from '../../payloads/common';
import { derivedId } from '../../payloads/derivedId';
import { systemClock } from '../../transport/clock';
import type { Failure } from '../../transport/failure';
import { cancelSignal } from '../../transport/request';
import { SINGLE_REQUEST_LIMITS } from '../../transport/sendWithRetries';
import { counted } from './submit/counts';
import { knowledgebaseError } from './submit/advice';
import { asHint, memoryPlaceOf, troubleHints } from './submit/memory';
import { knowledgebaseRoutes } from './submit/routes';
import { keyOwner } from './submit/sources/identity';

const by = z.enum(['key', 'id']);

/** A document that an item asks to switch. */
interface RequestedDocument {
	item: Item;
	id: string;
	key?: string;
	/** Fields to send beside its ID: the server clears fields that are not sent. */
	record?: object;
}

/** The documents of one knowledgebase and, if it is named, of one source. */
interface Group {
	knowledgebaseId: string;
	sourceName: string;
	documents: RequestedDocument[];
}

/** The outcomes of a group's documents, by ID in lower case. */
interface Switched {
	outcomes: Map<string, IDataObject>;
	failure?: Failure;
}

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
	const output: INodeExecutionData[][] = [];
	const fail = (item: Item, caught: unknown) => {
		const error = item.asError(caught);
		if (!mayContinue(item.context)) throw error;
		(output[item.index] ??= []).push(item.failed(error));
	};
	for (const group of groupItems(items, first, fail)) {
		const { outcomes, failure } = await switchGroup(first, group, disabled);
		for (const { item, id, key } of group.documents) {
			const outcome = outcomes.get(id.toLowerCase());
			if (outcome)
				(output[item.index] ??= []).push(item.output({ ...(key ? { key } : {}), id, ...outcome }));
			else if (failure) fail(item, knowledgebaseError(item, failure));
		}
	}
	return output.flat();
}

/** Groups all items before anything is sent. */
function groupItems(
	items: Item[],
	first: Item,
	fail: (item: Item, caught: unknown) => void,
): Group[] {
	const groups = new Map<string, Group>();
	for (const item of items) {
		try {
			item.checkSameCredential(first);
			const knowledgebaseId = item.id('knowledgebaseId');
			const sourceName = keyIfGiven(item, 'sourceName') ?? '';
			const name = JSON.stringify([knowledgebaseId, sourceName]);
			const group = groups.get(name) ?? { knowledgebaseId, sourceName, documents: [] };
			const documents = requestedDocuments(item, keyOwner(knowledgebaseId, sourceName));
			group.documents = group.documents.concat(documents);
			groups.set(name, group);
		} catch (caught) {
			fail(item, caught);
		}
	}
	return [...groups.values()];
}

/** The documents of a JSON body. The operation decides whether they are disabled. */
const documentsWithIds = z.array(z.object({ id: uuid }).passthrough()).min(1);

function requestedDocuments(item: Item, owner: string): RequestedDocument[] {
	if (item.isJsonBody)
		return item.jsonBody(documentsWithIds).map((record) => ({ item, id: record.id, record }));
	if (item.setting('documentsBy', by) === 'id')
		return item.ids('documentIds').map((id) => ({ item, id }));
	const key = keyOf(item, 'documentKey');
	// The name identifies the document in the server's list.
	return [{ item, key, id: derivedId(owner, key), record: { name: key } }];
}

async function switchGroup(
	{ context, send }: Item,
	{ knowledgebaseId, sourceName, documents }: Group,
	disabled: boolean,
): Promise<Switched> {
	const signal = cancelSignal(context);
	const timeoutMs = (documents[0]?.item.setting('options.timeout', timeoutSeconds) ?? 0) * 1000;
	const settings = { timeoutMs, retryLimits: SINGLE_REQUEST_LIMITS };
	const sending = { send, settings, clock: systemClock, signal };
	const routes = knowledgebaseRoutes(sending, knowledgebaseId);
	const place = memoryPlaceOf(knowledgebaseId, { sourceName }, context);
	const source =
		sourceName === '' ? undefined : await new SourceMemory(place, routes).open('to read');
	if (source?.refusal) return { outcomes: new Map(), failure: source.refusal };
	const memory = source?.isUsable ? source : undefined;
	const ids = uniq(documents.map(({ id }) => id.toLowerCase()));
	const unknownIds = new Set(memory && disabled ? ids.filter((id) => !memory.known.knows(id)) : []);
	const outcomes: Switched['outcomes'] = new Map();
	const outcome = disabled ? 'disabled' : 'enabled';
	const onSwitched = (id: string, isThere: boolean) =>
		void outcomes.set(id, {
			outcome: isThere ? outcome : 'missing',
			...(memory && disabled ? { known: !unknownIds.has(id) } : {}),
		});
	const extraFields = new Map<string, object>(
		documents.flatMap(({ id, record }) => (record ? [[id.toLowerCase(), record]] : [])),
	);
	const names = await memory?.names.of(ids.filter((id) => !has(extraFields.get(id), 'name')));
	for (const [id, row] of namedRows(names ?? new Map()))
		extraFields.set(id, { ...row, ...extraFields.get(id) });
	// This works also while a run of the source is active: that run merges the note, or leaves it to the next one.
	const noteFailure = memory && (await memory.noteByHand(ids, disabled));
	const switching = { disabled, witness: memory?.witness, routes, extraFields, onSwitched };
	const failure = noteFailure ?? (await switchDocuments(ids, switching));
	const messages = memory
		? [...unknownHint(unknownIds.size), ...troubleHints(memory.troubles)]
		: [];
	tellUser(context, messages);
	return { outcomes, failure };
}

/** A document that the memory does not know may belong to another source. */
function unknownHint(count: number): string[] {
	const documents = counted(count, 'document was', 'documents were');
	return count > 0
		? [asHint(`${documents} not known of this source. Check Source Name and the keys.`)]
		: [];
}
