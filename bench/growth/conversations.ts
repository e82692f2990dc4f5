import { range, sortedIndexBy } from 'lodash';
import type { IDataObject, IHttpRequestOptions, IPollFunctions } from 'n8n-workflow';

import { poll } from '../../nodes/XpertAiTrigger/poll';
import { idOf } from '../support/documents';
import type { Growing, Sent } from './growing';

const START = Date.UTC(2026, 0, 1);

/** How far apart conversations have changed. */
const EVERY_MS = 10;

/** What is asked for. */
interface Search {
	where: { updatedAt?: { $gte: string } };
	order: { updatedAt: 'ASC' | 'DESC' };
	limit: number;
	offset?: number;
}

/** A poll that gives so many conversations. */
export const conversations: Growing = (size) => {
	const all = range(size).map((index) => ({
		id: idOf(index),
		threadId: idOf(-index - 1),
		status: 'idle',
		updatedAt: new Date(START + index * EVERY_MS).toISOString(),
	}));
	const sent: Sent = { requests: 0, bytes: 0 };
	const answer = ({ body }: IHttpRequestOptions) => {
		const text = String(body);
		sent.requests += 1;
		sent.bytes += text.length;
		const { where, order, limit, offset = 0 } = JSON.parse(text) as Search;
		if (where.updatedAt === undefined) return { items: [], total: 0 };
		const from = sortedIndexBy(all, { ...NONE, updatedAt: where.updatedAt.$gte }, 'updatedAt');
		const found = all.slice(from);
		const page = order.updatedAt === 'ASC' ? found : found.reverse();
		return { items: page.slice(offset, offset + limit), total: size };
	};
	const data: IDataObject = {};
	const context = contextFor(data, size, (options) => JSON.stringify(answer(options)));
	return async () => {
		await poll(context);
		// As a poll before the first of them changed has left it.
		const moments = { since: START, floor: START, final: START, again: START };
		Object.assign(data, { ...moments, known: [] });
		const [items = []] = (await poll(context)) ?? [];
		if (items.length !== size) throw new Error(`Of ${size} conversations, ${items.length} came`);
		return sent;
	};
};

const NONE = { id: '', threadId: '', status: '', updatedAt: '' };

function contextFor(
	data: IDataObject,
	conversationsPerPoll: number,
	answer: (options: IHttpRequestOptions) => string,
): IPollFunctions {
	const parameters: IDataObject = {
		events: ['answered'],
		simplify: false,
		options: { conversationsPerPoll },
	};
	const methods = {
		getMode: () => 'trigger',
		getNode: () => ({ name: 'Growth', credentials: {} }),
		getCredentials: async () =>
			await Promise.resolve({ baseUrl: 'https://localhost', accessToken: 'token' }),
		getNodeParameter: (name: string, initial: unknown) => parameters[name] ?? initial,
		getWorkflowStaticData: () => data,
		helpers: {
			httpRequestWithAuthentication: async (_: string, options: IHttpRequestOptions) =>
				await Promise.resolve({ statusCode: 201, headers: {}, body: answer(options) }),
		},
	};
	return methods as unknown as IPollFunctions;
}
