import type { ZodTypeAny } from 'zod';

import {
	assistantFilter,
	chatSession,
	conversation,
	conversationSearch,
	fileContextParts,
	fileParts,
	storeNamespace,
	storeSearch,
} from 'nodes/XpertAi/payloads/bodies';

/** What a real server takes where the contract says "not shown", and which path it refuses. */
const MEASURED: Array<[string, ZodTypeAny, good: unknown[], bad: Array<[unknown, path: string]>]> =
	[
		[
			'E5',
			conversationSearch,
			[{}, { search: 'a', where: { threadId: 't' }, order: { createdAt: 'DESC' }, limit: 5 }],
			[
				[{ search: 1 }, 'search'],
				[{ where: [] }, 'where'],
				[{ order: { createdAt: 'down' } }, 'order.createdAt'],
			],
		],
		[
			'E6',
			chatSession,
			[{}, { assistant: { id: 'a' }, user: 'u', expires_after: 600, more: 1 }],
			[
				[{ assistant: { id: '' } }, 'assistant.id'],
				[{ expires_after: 1.5 }, 'expires_after'],
				[{ user: 5 }, 'user'],
			],
		],
		[
			'E7 and E9',
			assistantFilter,
			[{}, { graph_id: 'g', metadata: { slug: 's' }, limit: 1, offset: 0 }],
			[
				[{ graph_id: '' }, 'graph_id'],
				[{ metadata: 'slug' }, 'metadata'],
			],
		],
		[
			'E8',
			storeSearch,
			[{ namespace_prefix: [] }, { namespace_prefix: ['a'], query: 'q', filter: { k: 1 } }],
			[
				[{}, 'namespace_prefix'],
				[{ namespace_prefix: 'a' }, 'namespace_prefix'],
				[{ namespace_prefix: ['a', ''] }, 'namespace_prefix.1'],
				[{ namespace_prefix: [], filter: [] }, 'filter'],
			],
		],
		[
			'E11',
			storeNamespace,
			[{}, { prefix: ['a'], suffix: ['b'], max_depth: 2, limit: 5, offset: 0 }],
			[
				[{ prefix: [1] }, 'prefix.0'],
				[{ suffix: 'b' }, 'suffix'],
				[{ max_depth: 1.5 }, 'max_depth'],
				[{ limit: 0 }, 'limit'],
				[{ limit: 'many' }, 'limit'],
				[{ offset: -1 }, 'offset'],
			],
		],
		[
			'E12',
			fileContextParts,
			[{}, { target: { kind: 'storage' }, purpose: 'p', parseMode: 'deep', threadId: 't' }],
			[
				[{ parseMode: 'slow' }, 'parseMode'],
				[{ target: 'x' }, 'target'],
				[{ xpertId: 1 }, 'xpertId'],
			],
		],
		[
			'E13',
			conversation,
			[{}, { title: 't', threadId: 'any text', xpertId: null, projectId: 'p', options: {} }],
			[
				[{ title: 1 }, 'title'],
				[{ options: [] }, 'options'],
			],
		],
		['E16', fileParts, [{}, { target: { directory: 'manuals' } }], [[{ target: [] }, 'target']]],
	];

describe.each(MEASURED)('the body of %s', (_, schema, good, bad) => {
	it.each(good.map((body) => [body]))('takes %j unchanged', (body) => {
		expect(schema.parse(body)).toEqual(body);
	});

	it.each(bad)('refuses %j at %s', (body, path) => {
		const { issues = [] } = schema.safeParse(body).error ?? {};
		expect(issues.map((issue) => issue.path.join('.'))).toEqual([path]);
	});
});
