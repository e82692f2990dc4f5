import { groupBy, truncate, uniqBy, without } from 'lodash';
import { DateTime } from 'luxon';
import type {
	IDataObject,
	ILoadOptionsFunctions,
	INodeListSearchItems,
	INodeListSearchResult,
} from 'n8n-workflow';

import { callOrThrow, operationError } from '../execution/apiError';
import { collectResults, PAGE_SIZE } from '../execution/paging';
import { isJsonObject } from '../payloads/json';
import { CONVERSATION_SEARCH_PATH } from '../threads/requests';
import { listAnswerSchema } from '../transport/answerSchemas';
import { connectionWithoutItem } from '../transport/request';

/** A request of the editor for a page of a list. */
interface ListRequest {
	/** The text in the search box; empty for no filter. */
	searchText: string;
	/** The number of entries on the pages before. */
	offset: number;
	context: ILoadOptionsFunctions;
	/** Sends a search request, and returns the objects in the answer. `resultsKey`: see `listAnswerSchema`. */
	fetchList: (path: string, body: object, resultsKey?: string) => Promise<IDataObject[]>;
}

/** The lists, by name. Each name is also the name of a method in `listSearch`. */
const LIST_SEARCHES = {
	searchAssistants,
	searchThreads: conversationSearchBy('threadId'),
	searchConversations: conversationSearchBy('id'),
};

export type ListName = keyof typeof LIST_SEARCHES;

/**
 * Returns a page of a list for the editor.
 *
 * @param searchText the text in the search box; empty for no filter
 * @param paginationToken the offset of the page, from the previous result
 * @throws NodeApiError or NodeOperationError, which the editor shows in place of the list
 */
export async function searchList(
	context: ILoadOptionsFunctions,
	name: ListName,
	searchText = '',
	paginationToken = '0',
): Promise<INodeListSearchResult> {
	const { send } = await connectionWithoutItem(context);
	const fetchList: ListRequest['fetchList'] = async (path, body, resultsKey) => {
		const { answer } = await callOrThrow(context, send, {
			method: 'POST',
			path,
			body: JSON.stringify(body),
			schema: listAnswerSchema(resultsKey),
			repeatable: true,
		});
		return answer.filter(isJsonObject);
	};
	return await LIST_SEARCHES[name]({
		context,
		searchText,
		offset: Number(paginationToken),
		fetchList,
	});
}

/**
 * Fetches all assistants and filters them here, because the server cannot search them by name.
 *
 * @throws NodeOperationError if there is no assistant
 */
async function searchAssistants({ context, searchText, fetchList }: ListRequest) {
	const all = await collectResults(async (page) => await fetchList('/assistants/search', page));
	const entries = withDistinctNames(all.flatMap(assistantEntries));
	if (entries.length === 0)
		throw operationError(context.getNode(), NO_ASSISTANT_MESSAGE, {
			description: NO_ASSISTANT_ADVICE,
		});
	const isWanted = (entry: INodeListSearchItems) =>
		`${entry.name} ${entry.value}`.toLowerCase().includes(searchText.toLowerCase());
	return { results: entries.filter(isWanted) };
}

/**
 * Returns a function that fetches a page of conversations, latest first.
 *
 * @param idKey the field of a conversation that becomes the value of its entry
 */
function conversationSearchBy(idKey: 'threadId' | 'id') {
	return async ({ context, searchText, offset, fetchList }: ListRequest) => {
		const page = { limit: PAGE_SIZE, offset, search: searchText || undefined };
		const body = { order: { updatedAt: 'DESC' }, ...page };
		const found = await fetchList(CONVERSATION_SEARCH_PATH, body, 'items');
		const isFull = found.length === PAGE_SIZE;
		const next = isFull ? String(offset + PAGE_SIZE) : undefined;
		const zone = context.getTimezone();
		const entries = found.flatMap((one) => conversationEntries(one, idKey, zone));
		return { results: withDistinctNames(entries), paginationToken: next };
	};
}

const NO_ASSISTANT_MESSAGE = 'This key may use no assistant';

const NO_ASSISTANT_ADVICE =
	'Publish one on the server, or enter the key of its workspace in the credential.';

/** An entry of a list. */
interface ListEntry {
	name: string;
	value: string;
	/** Texts that can distinguish the entry from entries with the same name, best first. */
	aliases?: string[];
}

/**
 * Removes entries with duplicate IDs, and makes the names of the others distinct. If several entries have the same name,
 * adds to each name the first alias that the others do not have. If there is no such alias, adds the start of the ID.
 */
function withDistinctNames(all: ListEntry[]): INodeListSearchItems[] {
	const entries = uniqBy(all, 'value');
	const entriesByName = groupBy(entries, 'name');
	return entries.map((entry) => {
		const { name, value, aliases = [] } = entry;
		const others = without(entriesByName[name], entry);
		if (others.length === 0) return { name, value };
		const taken = others.flatMap((other) => other.aliases ?? []);
		const ownAlias = aliases.find((alias) => alias !== name && !taken.includes(alias));
		return { name: `${name} (${ownAlias ?? value.slice(0, 8)})`, value };
	});
}

const isNonEmptyText = (value: unknown): value is string =>
	typeof value === 'string' && value !== '';

/** Returns an array with the entry of an assistant. The array is empty if the assistant has no ID. */
function assistantEntries({ assistant_id: value, name, description, metadata }: IDataObject) {
	const { title, slug } = isJsonObject(metadata) ? metadata : {};
	const aliases = [slug, name, description].filter(isNonEmptyText).map((text) => truncate(text));
	return isNonEmptyText(value)
		? [{ value, name: [title, name].find(isNonEmptyText) ?? value, aliases }]
		: [];
}

/** Returns an array with the entry of a conversation. The array is empty if the conversation has no ID. */
function conversationEntries(conversation: IDataObject, idKey: string, zone: string) {
	const { [idKey]: value, title, status, updatedAt } = conversation;
	const changed = DateTime.fromISO(String(updatedAt), { zone });
	const lastChange = changed.isValid ? changed.toFormat('yyyy-MM-dd HH:mm') : '';
	const details = [isNonEmptyText(title) ? title : 'Untitled', status, lastChange].filter(
		isNonEmptyText,
	);
	return isNonEmptyText(value) ? [{ value, name: details.join(' · ') }] : [];
}
