import groupBy from 'lodash/groupBy';
import truncate from 'lodash/truncate';
import uniqBy from 'lodash/uniqBy';
import without from 'lodash/without';
import { DateTime } from 'luxon';
import type {
	IDataObject,
	ILoadOptionsFunctions,
	INodeListSearchItems,
	INodeListSearchResult,
} from 'n8n-workflow';

import { PAGE_SIZE, collectPages } from '../execution/paging';
import { callOrThrow } from '../execution/callOrThrow';
import { operationError } from '../execution/outputs';
import { isJsonObject, listAnswer } from '../transport/answer';
import { createSend } from '../transport/request';

/** Most results of a list in pages that are searched for the user's filter. */
const MAX_SEARCHED = 2000;

/** A list endpoint for a picker. */
interface PickerList {
	path: string;
	/** Key of the results in the answer; by default the answer itself is the list. */
	resultsKey?: string;
	body: IDataObject;
	/** Whether servers give pages; the others give the whole list whatever `limit` and `offset` say. */
	hasPages: boolean;
	/** The entry for a result; `undefined` if it cannot be selected. */
	toEntry: (result: IDataObject) => PickerEntry | undefined;
}

/** An entry that can be selected. */
interface PickerEntry {
	value: string;
	name: string;
	/** Texts that may distinguish it from entries of the same name, best first. */
	aliases?: string[];
}

/**
 * One page of a list, or what the user's filter finds in it.
 *
 * @param filter the text that the user typed
 * @param paginationToken the offset of the page, from the page before
 * @throws NodeApiError or NodeOperationError, which the picker shows instead of a list
 */
export async function searchList(
	context: ILoadOptionsFunctions,
	name: ListName,
	filter = '',
	paginationToken = '0',
): Promise<INodeListSearchResult> {
	const { path, resultsKey, body, hasPages, toEntry } = LISTS[name](context);
	const send = await createSend(context);
	const fetchPage = async (page: { limit: number; offset: number }) => {
		const answer = await callOrThrow(context, send, {
			method: 'POST',
			path,
			repeatable: true,
			schema: listAnswer(resultsKey),
			body: JSON.stringify({ ...body, ...page }),
		});
		return answer.filter(isJsonObject);
	};
	const isPage = hasPages && filter === '';
	const offset = Number(paginationToken);
	const results = isPage
		? await fetchPage({ limit: PAGE_SIZE, offset })
		: await collectPages(fetchPage, hasPages ? MAX_SEARCHED : Infinity);
	const entries = uniqBy(
		results.flatMap((result) => toEntry(result) ?? []),
		'value',
	);
	if (name === 'searchAssistants' && entries.length === 0)
		throw operationError(context.getNode(), NO_ASSISTANT, { description: WHERE_ASSISTANTS_ARE });
	const isWanted = ({ name: shown, value }: INodeListSearchItems) =>
		`${shown} ${value}`.toLowerCase().includes(filter.toLowerCase());
	const hasMore = isPage && results.length === PAGE_SIZE;
	return {
		results: withDistinctNames(entries).filter(isWanted),
		...(hasMore && { paginationToken: String(offset + PAGE_SIZE) }),
	};
}

const NO_ASSISTANT = 'This key may use no assistant';

const WHERE_ASSISTANTS_ARE =
	'Publish one on the server, or enter the key of its workspace in the credential.';

/** Characters of an ID that distinguish records at a glance. */
const ID_PREFIX_LENGTH = 8;

/** Adds to entries of the same name the first alias that no other has, or else the start of the ID. */
function withDistinctNames(entries: PickerEntry[]): INodeListSearchItems[] {
	const named = groupBy(entries, 'name');
	return entries.map((entry) => {
		const { value, name, aliases = [] } = entry;
		const others = without(named[name] ?? [], entry);
		if (others.length === 0) return { value, name };
		const taken = others.flatMap((other) => other.aliases ?? []);
		const suffix = aliases.find((alias) => alias !== name && !taken.includes(alias));
		return { value, name: `${name} (${suffix ?? value.slice(0, ID_PREFIX_LENGTH)})` };
	});
}

/** The lists of the pickers, by the name of their method. */
const LISTS = {
	/**
	 * Assistants, by title or name; entries of the same name also by slug, name or description. Servers filter by
	 * metadata only, so the typed text is searched here.
	 */
	searchAssistants: (): PickerList => ({
		path: '/assistants/search',
		body: {},
		hasPages: false,
		toEntry: (assistant) => {
			const { assistant_id: value, name, description, metadata } = assistant;
			if (typeof value !== 'string') return undefined;
			const { title = name, slug } = isJsonObject(metadata) ? metadata : {};
			return {
				value,
				name: isText(title) ? title : value,
				aliases: [slug, name, description].filter(isText).map((text) => truncate(text)),
			};
		},
	}),
	/** Threads, by the conversations they belong to. */
	searchThreads: conversationsBy('threadId'),
	searchConversations: conversationsBy('id'),
};

export type ListName = keyof typeof LISTS;

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/**
 * Conversations, newest first.
 *
 * @param idKey what is selected: the conversation or its thread
 */
function conversationsBy(idKey: 'id' | 'threadId') {
	return (context: ILoadOptionsFunctions): PickerList => ({
		path: '/conversations/search',
		resultsKey: 'items',
		body: { order: { updatedAt: 'DESC' } },
		hasPages: true,
		toEntry: ({ [idKey]: value, title, status, updatedAt }) => {
			if (!isText(value)) return undefined;
			const changed = DateTime.fromISO(String(updatedAt), { zone: context.getTimezone() });
			const lastChange = changed.isValid ? changed.toFormat('yyyy-MM-dd HH:mm') : '';
			const details = [isText(title) ? title : 'Untitled', status, lastChange];
			return { value, name: details.filter(isText).join(' · ') };
		},
	});
}
