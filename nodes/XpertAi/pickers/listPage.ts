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

import { answerFor } from '../execution/answers';
import { PAGE_SIZE, collectPages } from '../execution/paging';
import { answerWithList, isJsonObject, listIn } from '../transport/answer';
import { createSend } from '../transport/request';

/** Most results that are searched for the user's filter. */
const MAX_SEARCHED = 2000;

const LIST_TIMEOUT_MS = 30_000;

/** A list endpoint for a picker. */
interface PickerList {
	path: string;
	/** Key of the results in the answer; by default the answer itself is the list. */
	resultsKey?: string;
	body: IDataObject;
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
 * One page of a picker's entries. Also ends, without showing an entry twice, on servers that ignore `limit` and
 * `offset`.
 *
 * @param filter the text that the user typed
 * @param paginationToken the token of the page, from the page before
 */
async function listPage(
	context: ILoadOptionsFunctions,
	list: PickerList,
	filter?: string,
	paginationToken?: string,
): Promise<INodeListSearchResult> {
	const send = await createSend(context);
	const { path, resultsKey } = list;
	const checkAnswer = answerWithList(resultsKey);
	const fetchPage = async (page: { limit: number; offset: number }) => {
		const body = JSON.stringify({ ...list.body, ...page });
		const options = { method: 'POST', timeoutMs: LIST_TIMEOUT_MS, checkAnswer } as const;
		const request = { ...options, path, body };
		const answer = await answerFor(context, send, request, { repeatable: true });
		return (listIn(answer, resultsKey) as unknown[]).filter(isJsonObject);
	};
	const entries = (results: IDataObject[]) =>
		withDistinctNames(
			uniqBy(
				results.flatMap((result) => list.toEntry(result) ?? []),
				'value',
			),
		);

	if (filter) {
		const wanted = filter.toLowerCase();
		const all = entries(await collectPages(fetchPage, MAX_SEARCHED));
		return {
			results: all.filter(({ name, value }) => `${name} ${value}`.toLowerCase().includes(wanted)),
		};
	}
	const { offset, first } = readToken(paginationToken);
	const page = await fetchPage({ limit: PAGE_SIZE, offset });
	const results = entries(page);
	const firstOfPage = String(results[0]?.value ?? '');
	// The same page again: the server ignores the offset, so everything has been shown.
	if (offset > 0 && firstOfPage === first) return { results: [] };
	const hasMore = page.length === PAGE_SIZE;
	return {
		results,
		...(hasMore ? { paginationToken: `${offset + PAGE_SIZE} ${first || firstOfPage}` } : {}),
	};
}

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
		const suffix = aliases.find(
			(alias) => alias !== '' && alias !== name && !taken.includes(alias),
		);
		return { value, name: `${name} (${suffix ?? value.slice(0, ID_PREFIX_LENGTH)})` };
	});
}

/** The token holds the offset and the first entry of all, to detect a server that starts again. */
function readToken(token?: string): { offset: number; first: string } {
	const [offset = '', ...first] = (token ?? '').split(' ');
	return { offset: Number(offset) || 0, first: first.join(' ') };
}

/** The lists of the pickers, by the name of their method. */
const LISTS = {
	/**
	 * Assistants (E7), by title or name; entries of the same name also by slug, name or description. Servers filter by
	 * metadata only, so the typed text is searched here.
	 */
	searchAssistants: (): PickerList => ({
		path: '/assistants/search',
		body: {},
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

/**
 * One page of a list, or what the user's filter finds in it.
 *
 * @throws NodeApiError, which the picker shows instead of a list
 */
export async function searchList(
	context: ILoadOptionsFunctions,
	name: keyof typeof LISTS,
	filter?: string,
	paginationToken?: string,
): Promise<INodeListSearchResult> {
	return await listPage(context, LISTS[name](context), filter, paginationToken);
}

function isText(value: unknown): value is string {
	return typeof value === 'string' && value !== '';
}

/**
 * Conversations, newest first (E5).
 *
 * @param idKey what is selected: the conversation or its thread
 */
function conversationsBy(idKey: 'id' | 'threadId') {
	return (context: ILoadOptionsFunctions): PickerList => ({
		path: '/conversations/search',
		resultsKey: 'items',
		body: { order: { updatedAt: 'DESC' } },
		toEntry: ({ [idKey]: value, title, status, updatedAt }) => {
			if (!isText(value)) return undefined;
			const changed = DateTime.fromISO(String(updatedAt), { zone: context.getTimezone() });
			const details = [
				isText(title) ? title : 'Untitled',
				typeof status === 'string' ? status : '',
				changed.isValid ? changed.toFormat('yyyy-MM-dd HH:mm') : '',
			];
			return { value, name: details.filter(Boolean).join(' · ') };
		},
	});
}
