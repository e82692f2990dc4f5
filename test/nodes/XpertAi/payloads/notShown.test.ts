import type { ZodTypeAny } from 'zod';

import {
	assistantFilter,
	newChatSession,
	newConversation,
	conversationSearch,
	contextUploadTextParts,
	uploadTextParts,
	storeNamespacesBody,
	storeSearch,
} from 'nodes/XpertAi/payloads/requestSchemas';

/** What a real server takes where the contract says "not shown", and which path it refuses. */
const MEASURED: Array<[string, ZodTypeAny, good: unknown[], bad: Array<[path: string, unknown]>]> =
	[
		[
			'E5',
			conversationSearch,
			[{}, { search: 'a', where: { threadId: 't' }, order: { createdAt: 'DESC' }, limit: 5 }],
			[
				['search', { search: 1 }],
				['where', { where: [] }],
				['order.createdAt', { order: { createdAt: 'down' } }],
			],
		],
		[
			'E6',
			newChatSession,
			[{}, { assistant: { id: 'a' }, user: 'u', expires_after: 600, more: 1 }],
			[
				['assistant.id', { assistant: { id: '' } }],
				['expires_after', { expires_after: 1.5 }],
				['user', { user: 5 }],
			],
		],
		[
			'E7 and E9',
			assistantFilter,
			[{}, { graph_id: 'g', metadata: { slug: 's' }, limit: 1, offset: 0 }],
			[
				['graph_id', { graph_id: '' }],
				['metadata', { metadata: 'slug' }],
			],
		],
		[
			'E8',
			storeSearch,
			[{ namespace_prefix: [] }, { namespace_prefix: ['a'], query: 'q', filter: { k: 1 } }],
			[
				['namespace_prefix', {}],
				['namespace_prefix', { namespace_prefix: 'a' }],
				['namespace_prefix.1', { namespace_prefix: ['a', ''] }],
				['filter', { namespace_prefix: [], filter: [] }],
			],
		],
		[
			'E11',
			storeNamespacesBody,
			[{}, { prefix: ['a'], suffix: ['b'], max_depth: 2, limit: 5, offset: 0 }],
			[
				['prefix.0', { prefix: [1] }],
				['suffix', { suffix: 'b' }],
				['max_depth', { max_depth: 1.5 }],
				['limit', { limit: 0 }],
				['limit', { limit: 'many' }],
				['offset', { offset: -1 }],
			],
		],
		[
			'E12',
			contextUploadTextParts,
			[{}, { target: { kind: 'storage' }, purpose: 'p', parseMode: 'deep', threadId: 't' }],
			[
				['parseMode', { parseMode: 'slow' }],
				['target', { target: 'x' }],
				['xpertId', { xpertId: 1 }],
			],
		],
		[
			'E13',
			newConversation,
			[{}, { title: 't', threadId: 'any text', xpertId: null, projectId: 'p', options: {} }],
			[
				['title', { title: 1 }],
				['options', { options: [] }],
			],
		],
		[
			'E16',
			uploadTextParts,
			[{}, { target: { directory: 'manuals' } }],
			[['target', { target: [] }]],
		],
	];

describe.each(MEASURED)('the body of %s', (_, schema, good, bad) => {
	it('takes what servers take, unchanged', () => {
		for (const body of good) expect(schema.parse(body)).toEqual(body);
	});

	it.each(bad)('refuses another %s', (path, body) => {
		const { issues = [] } = schema.safeParse(body).error ?? {};
		expect(issues.map((issue) => issue.path.join('.'))).toEqual([path]);
	});
});
