import { groupBy, truncate, uniqBy, without } from 'lodash';
import { DateTime } from 'luxon';
import type {
	IDataObject,
	ILoadOptionsFunctions,
	INodeListSearchItems,
	INodeListSearchResult,
} from 'n8n-workflow';

import { callOrThrow, operationError } from '../execution/apiError';
import { collectPages, PAGE_SIZE } from '../execution/paging';
import { isJsonObject } from '../payloads/json';
import { listAnswer } from '../transport/answer';
import { connectionOf } from '../transport/request';

/** What the editor asks of a list. */
interface ListRequest {
	/** The text in the search box; empty for no filter. */
	filter: string;
	/** The number of entries on the pages before. */
	offset: number;
	context: ILoadOptionsFunctions;
	/** Posts a search request, and returns the records in the answer. `resultsKey`: see `listAnswer`. */
	fetchList: (path: string, body: object, resultsKey?: string) => Promise<IDataObject[]>;
}

/** The lists, by name. Each name is also the name of a method in `listSearch`. */
const LISTS = {
	searchAssistants,
	searchThreads: conversationsBy('threadId'),
	searchConversations: conversationsBy('id'),
};

export type ListName = keyof typeof LISTS;

/**
 * Returns the entries of a list for the editor.
 *
 * @param filter the text in the search box; empty for no filter
 * @param paginationToken the offset of the page, from the previous result
 * @throws NodeApiError or NodeOperationError, which the editor shows in place of the list
 */
export async function searchList(
	context: ILoadOptionsFunctions,
	name: ListName,
	filter = '',
	paginationToken = '0',
): Promise<INodeListSearchResult> {
	const { send } = await connectionOf(context);
	const fetchList: ListRequest['fetchList'] = async (path, body, resultsKey) => {
		const request = { method: 'POST', path, repeatable: true } as const;
		const schema = listAnswer(resultsKey);
		const asked = { ...request, body: JSON.stringify(body), schema };
		return (await callOrThrow(context, send, asked)).answer.filter(isJsonObject);
	};
	return await LISTS[name]({ context, filter, offset: Number(paginationToken), fetchList });
}

/** Fetches and filters all assistants, because the server cannot search them by name. */
async function searchAssistants({ context, filter, fetchList }: ListRequest) {
	const all = await collectPages(async (page) => await fetchList('/assistants/search', page));
	const entries = withDistinctNames(all.flatMap(assistantEntry));
	if (entries.length === 0)
		throw operationError(context.getNode(), NO_ASSISTANT_MESSAGE, {
			description: NO_ASSISTANT_ADVICE,
		});
	const isWanted = (entry: INodeListSearchItems) =>
		`${entry.name} ${entry.value}`.toLowerCase().includes(filter.toLowerCase());
	return { results: entries.filter(isWanted) };
}

/** Returns a list of conversations that fetches one page. `idKey`: the field that identifies a conversation. */
function conversationsBy(idKey: 'threadId' | 'id') {
	return async ({ context, filter, offset, fetchList }: ListRequest) => {
		const page = { limit: PAGE_SIZE, offset, search: filter || undefined };
		const body = { order: { updatedAt: 'DESC' }, ...page };
		const found = await fetchList('/conversations/search', body, 'items');
		const next = found.length === PAGE_SIZE ? String(offset + PAGE_SIZE) : undefined;
		const zone = context.getTimezone();
		const entries = found.flatMap((one) => conversationEntry(one, idKey, zone));
		return { results: withDistinctNames(entries), paginationToken: next };
	};
}

const NO_ASSISTANT_MESSAGE = 'This key may use no assistant';

const NO_ASSISTANT_ADVICE =
	'Publish one on the server, or enter the key of its workspace in the credential.';

/** An entry of a list. `aliases`: texts that may tell it from entries with the same name, best first. */
interface ListEntry {
	name: string;
	value: string;
	aliases?: string[];
}

/**
 * Removes entries with duplicate IDs. To each name that occurs more than once, adds the first alias that no other entry
 * of this name has, or else the start of the ID.
 */
function withDistinctNames(all: ListEntry[]): INodeListSearchItems[] {
	const entries = uniqBy(all, 'value');
	const named = groupBy(entries, 'name');
	return entries.map((entry) => {
		const { name, value, aliases = [] } = entry;
		const others = without(named[name], entry);
		if (others.length === 0) return { name, value };
		const taken = others.flatMap((other) => other.aliases ?? []);
		const own = aliases.find((alias) => alias !== name && !taken.includes(alias));
		return { name: `${name} (${own ?? value.slice(0, 8)})`, value };
	});
}

const isNonEmptyText = (value: unknown): value is string =>
	typeof value === 'string' && value !== '';

/** Returns an array with the entry of an assistant. The array is empty if the assistant has no ID. */
function assistantEntry({ assistant_id: value, name, description, metadata }: IDataObject) {
	const { title, slug } = isJsonObject(metadata) ? metadata : {};
	const aliases = [slug, name, description].filter(isNonEmptyText).map((text) => truncate(text));
	return isNonEmptyText(value)
		? [{ value, name: [title, name].find(isNonEmptyText) ?? value, aliases }]
		: [];
}

/** Returns an array with the entry of a conversation. The array is empty if the conversation has no ID. */
function conversationEntry(conversation: IDataObject, idKey: string, zone: string) {
	const { [idKey]: value, title, status, updatedAt } = conversation;
	const changed = DateTime.fromISO(String(updatedAt), { zone });
	const lastChange = changed.isValid ? changed.toFormat('yyyy-MM-dd HH:mm') : '';
	const details = [isNonEmptyText(title) ? title : 'Untitled', status, lastChange].filter(
		isNonEmptyText,
	);
	return isNonEmptyText(value) ? [{ value, name: details.join(' · ') }] : [];
}
