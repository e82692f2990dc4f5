// @ts-check
'use strict';

/** The layers from the top down (docs/maintaining.md); each may import those below it only. */
const ROOMS = [
	['the face', '^nodes/XpertAi/XpertAi\\.node\\.ts$'],
	['the catalogue', '^nodes/XpertAi/catalogue\\.ts$'],
	['operations', '^nodes/XpertAi/operations/'],
	['pickers', '^nodes/XpertAi/pickers/'],
	['execution', '^nodes/XpertAi/execution/'],
	['ingest and runs', '^nodes/XpertAi/(ingest|runs)/'],
	['threads', '^nodes/XpertAi/threads/'],
	['transport', '^nodes/XpertAi/transport/'],
	['payloads', '^nodes/XpertAi/payloads/'],
];

const downwards = ROOMS.slice(1).map(([name, path], above) => ({
	name: `${name}: downwards only`,
	severity: 'error',
	from: { path },
	to: { path: ROOMS.slice(0, above + 1).map(([, room]) => room) },
}));

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
	forbidden: [
		...downwards,
		{
			name: 'no cycles, of types either',
			severity: 'error',
			from: {},
			to: { circular: true },
		},
		{
			name: 'documents and runs are independent',
			severity: 'error',
			from: { path: '^nodes/XpertAi/(ingest|runs)/' },
			to: { path: '^nodes/XpertAi/(ingest|runs)/', pathNot: '^nodes/XpertAi/$1/' },
		},
		{
			name: 'the memory of a source is imported by its index',
			severity: 'error',
			from: { path: '^nodes/', pathNot: '^nodes/XpertAi/ingest/memory/' },
			to: { path: '^nodes/XpertAi/ingest/memory/', pathNot: '/index\\.ts$' },
		},
		{
			name: 'a resource imports no other',
			severity: 'error',
			from: { path: '^nodes/XpertAi/operations/([^/]+)/' },
			to: { path: '^nodes/XpertAi/operations/', pathNot: '^nodes/XpertAi/operations/($1|shared)/' },
		},
		{
			name: 'the trigger imports what both nodes share',
			severity: 'error',
			from: { path: '^nodes/XpertAiTrigger/' },
			to: {
				path: '^nodes/XpertAi/',
				pathNot: '^nodes/XpertAi/(pickers|execution|threads|transport|payloads)/',
			},
		},
		{
			name: 'nothing imports the trigger',
			severity: 'error',
			from: { pathNot: '^nodes/XpertAiTrigger/' },
			to: { path: '^nodes/XpertAiTrigger/' },
		},
		{
			name: 'of n8n, only its types',
			comment:
				'ingest, runs and threads are given what sends and the clock, and their tests need no n8n',
			severity: 'error',
			from: { path: '^nodes/XpertAi/(ingest|runs|threads|payloads)/' },
			to: { path: '^n8n-workflow$|node_modules/n8n-workflow/', dependencyTypesNot: ['type-only'] },
		},
		{
			name: 'the sandbox: routes, then runs, then processing, then what is stored',
			severity: 'error',
			from: {
				path: '^sandbox/(?:(runs)|processing|[^/]+\\.ts$)',
				pathNot: '^sandbox/(?:app|index|main)\\.ts$',
			},
			to: { path: '^sandbox/(?:routes|runs|app\\.ts|index\\.ts)', pathNot: '^sandbox/$1/' },
		},
		{
			name: 'no unused file',
			severity: 'error',
			from: { orphan: true },
			to: {},
		},
	],
	options: {
		tsPreCompilationDeps: true,
		tsConfig: { fileName: 'tsconfig.json' },
		doNotFollow: { path: 'node_modules' },
		exclude: { path: '^sandbox/dist/' },
	},
};
