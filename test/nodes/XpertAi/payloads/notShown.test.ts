import type { ZodTypeAny } from 'zod';

import {
	assistantFilter,
	chatSession,
	fileContextParts,
	fileParts,
	storeNamespace,
	storeSearch,
} from '../../../../nodes/XpertAi/payloads/bodies';
import { conversation, conversationSearch } from '../../../../nodes/XpertAi/payloads/conversation';

/** Bodies as real servers take them (service behaviour), for endpoints whose contract says "not shown". */
interface Measured {
	endpoint: string;
	schema: ZodTypeAny;
	good: unknown[];
	/** A wrong body, and the path its refusal names. */
	bad: Array<[unknown, string]>;
}

const MEASURED: Measured[] = [
	{
		endpoint: 'E5',
		schema: conversationSearch,
		good: [{}, { search: 'a', where: { threadId: 't' }, order: { createdAt: 'DESC' }, limit: 5 }],
		bad: [
			[{ search: 1 }, 'search'],
			[{ where: [] }, 'where'],
			[{ order: { createdAt: 'down' } }, 'order.createdAt'],
		],
	},
	{
		endpoint: 'E6',
		schema: chatSession,
		good: [{}, { assistant: { id: 'a' }, user: 'u', expires_after: 600, more: 1 }],
		bad: [
			[{ assistant: { id: '' } }, 'assistant.id'],
			[{ expires_after: 1.5 }, 'expires_after'],
			[{ user: 5 }, 'user'],
		],
	},
	{
		endpoint: 'E7 and E9',
		schema: assistantFilter,
		good: [{}, { graph_id: 'g', metadata: { slug: 's' }, limit: 1, offset: 0 }],
		bad: [
			[{ graph_id: '' }, 'graph_id'],
			[{ metadata: 'slug' }, 'metadata'],
		],
	},
	{
		endpoint: 'E8',
		schema: storeSearch,
		good: [{ namespace_prefix: [] }, { namespace_prefix: ['a'], query: 'q', filter: { k: 1 } }],
		bad: [
			[{}, 'namespace_prefix'],
			[{ namespace_prefix: 'a' }, 'namespace_prefix'],
			[{ namespace_prefix: ['a', ''] }, 'namespace_prefix.1'],
			[{ namespace_prefix: [], filter: [] }, 'filter'],
		],
	},
	{
		endpoint: 'E11',
		schema: storeNamespace,
		good: [{}, { prefix: ['a'], suffix: ['b'], max_depth: 2, limit: 5, offset: 0 }],
		bad: [
			[{ prefix: [1] }, 'prefix.0'],
			[{ suffix: 'b' }, 'suffix'],
			[{ max_depth: 1.5 }, 'max_depth'],
			[{ limit: 0 }, 'limit'],
			[{ limit: 'many' }, 'limit'],
			[{ offset: -1 }, 'offset'],
		],
	},
	{
		endpoint: 'E12',
		schema: fileContextParts,
		good: [{}, { target: { kind: 'storage' }, purpose: 'p', parseMode: 'deep', threadId: 't' }],
		bad: [
			[{ parseMode: 'slow' }, 'parseMode'],
			[{ target: 'x' }, 'target'],
			[{ xpertId: 1 }, 'xpertId'],
		],
	},
	{
		endpoint: 'E13',
		schema: conversation,
		good: [{}, { title: 't', threadId: 'any text', xpertId: null, projectId: 'p', options: {} }],
		bad: [
			[{ title: 1 }, 'title'],
			[{ options: [] }, 'options'],
		],
	},
	{
		endpoint: 'E16',
		schema: fileParts,
		good: [{}, { target: { directory: 'manuals' } }],
		bad: [[{ target: [] }, 'target']],
	},
];

describe.each(MEASURED)('the body of $endpoint', ({ schema, good, bad }) => {
	it.each(good.map((body) => ({ body })))('takes $body unchanged', ({ body }) => {
		expect(schema.parse(body)).toEqual(body);
	});

	it.each(bad)('refuses %j at %s', (body, path) => {
		expect(schema.safeParse(body).error?.issues.map((issue) => issue.path.join('.'))).toEqual([
			path,
		]);
	});
});
