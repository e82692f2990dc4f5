/**
 * The rooms whose lines keep the promises, and the tests that stand beside them. A mutant has to be killed by
 * the tests of its own room: what only a test far away notices is not held where it is kept.
 *
 * @type {Record<string, { folder: string, files?: string[], tests: string[], without?: string[], least: number }>}
 */
module.exports = {
	transport: {
		folder: 'nodes/XpertAi/transport',
		// The credentials of several items, and files that a stopped upload leaves open, are held in the engine.
		tests: [
			'test/nodes/XpertAi/transport/**/*.test.ts',
			'test/engine/{credentials,outcomes,transport,uploads}.test.ts',
		],
		// The clock's own test has to load n8n's sleep anew, which is lent here.
		files: ['!(clock)'],
		without: ['**/clock.test.ts', '**/*{property,proof,nightly}.test.ts'],
		least: 90,
	},
	execution: {
		folder: 'nodes/XpertAi/execution',
		// What the editor shows of fields is held by test/package/surface, here and below.
		files: ['!(fields)'],
		tests: [
			'test/nodes/XpertAi/execution/**/*.test.ts',
			'test/engine/{expressions,ids,ingestEncodings,limits,lists,outcomes,requests}.test.ts',
			'test/engine/{runsAsTool,toolOutput,uploads}.test.ts',
		],
		least: 90,
	},
	pickers: {
		folder: 'nodes/XpertAi/pickers',
		files: ['!(locators)'],
		tests: ['test/nodes/XpertAi/pickers/**/*.test.ts', 'test/engine/pickers.test.ts'],
		least: 90,
	},
	submit: {
		folder: 'nodes/XpertAi/operations/document/submit',
		files: ['!(fields)', 'sources/!(index)'],
		tests: [
			'test/nodes/XpertAi/operations/document/**/*.test.ts',
			'test/engine/{ingest*,documents,keys}.test.ts',
		],
		least: 90,
	},
	thread: {
		folder: 'nodes/XpertAi/operations/thread',
		files: ['*', 'run/!(fields|options)'],
		tests: [
			'test/nodes/XpertAi/operations/thread/**/*.test.ts',
			'test/engine/{runs*,keys}.test.ts',
		],
		least: 90,
	},
	ingest: {
		folder: 'nodes/XpertAi/ingest',
		files: ['*'],
		tests: ['test/nodes/XpertAi/ingest/**/*.test.ts'],
		least: 90,
	},
	memory: {
		folder: 'nodes/XpertAi/ingest/memory',
		tests: ['test/nodes/XpertAi/ingest/memory/**/*.test.ts'],
		// Its properties are quick, and hold most of it; proofs take whole nights.
		without: ['**/*.proof.test.ts'],
		least: 93,
	},
	runs: {
		folder: 'nodes/XpertAi/runs',
		// Most of its promises are about what comes of several requests: the tests of the engine hold them.
		tests: ['test/nodes/XpertAi/runs/**/*.test.ts', 'test/engine/runs*.test.ts'],
		least: 93,
	},
	threads: {
		folder: 'nodes/XpertAi/threads',
		// What reads the answers of runs is held by the tests of runs as well.
		tests: ['test/nodes/XpertAi/threads/**/*.test.ts', 'test/engine/runs*.test.ts'],
		least: 90,
	},
	trigger: {
		folder: 'nodes/XpertAiTrigger',
		files: ['memory', 'changes', 'items'],
		// What is in an item is held by the tests of the engine, as a poll is n8n's.
		tests: ['test/nodes/XpertAiTrigger/**/*.test.ts', 'test/engine/trigger*.test.ts'],
		// Its property is quick, and holds what becomes of each change.
		without: ['**/*.proof.test.ts'],
		least: 90,
	},
};
