/** What takes too long for each mutant. */
const LONG = '**/*{property,proof,nightly,keepingInStep}.test.ts';

/**
 * The rooms whose lines keep the promises: their folder, its files if not all, and the tests on the engine that hold
 * them beside those of the folder. What only a test far away notices is not held where it is kept.
 *
 * @type {Record<string, { folder: string, files?: string[], engine?: string[], without?: string[] }>}
 */
module.exports = {
	transport: {
		folder: 'nodes/XpertAi/transport',
		// The clock's own test has to load n8n's sleep anew, which is lent here.
		files: ['!(clock)'],
		// The credentials of several items, and files that a stopped upload leaves open.
		engine: ['credentials', 'outcomes', 'transport', 'uploads'],
		without: ['**/clock.test.ts', LONG],
	},
	execution: {
		folder: 'nodes/XpertAi/execution',
		// What the editor shows of fields is held by test/package/surface, here and below.
		files: ['!(fields)'],
		engine: [
			...['expressions', 'ids', 'ingestEncodings', 'limits', 'lists', 'outcomes', 'requests'],
			...['runsAsTool', 'toolOutput', 'uploads'],
		],
	},
	pickers: { folder: 'nodes/XpertAi/pickers', files: ['!(locators)'], engine: ['pickers'] },
	documents: {
		folder: 'nodes/XpertAi/operations/document',
		files: ['submit/!(fields)', 'submit/sources/!(index)'],
		engine: ['ingest*', 'documents', 'keys'],
	},
	thread: {
		folder: 'nodes/XpertAi/operations/thread',
		files: ['*', 'run/!(fields|options)'],
		engine: ['runs*', 'keys'],
	},
	ingest: { folder: 'nodes/XpertAi/ingest', files: ['*'] },
	// Its properties are quick, and hold most of it; proofs take whole nights.
	memory: { folder: 'nodes/XpertAi/ingest/memory', without: ['**/*.proof.test.ts'] },
	// Most of its promises are about what comes of several requests.
	runs: { folder: 'nodes/XpertAi/runs', engine: ['runs*'] },
	threads: { folder: 'nodes/XpertAi/threads', engine: ['runs*'] },
	trigger: {
		folder: 'nodes/XpertAiTrigger',
		files: ['memory', 'changes', 'items'],
		engine: ['trigger*'],
		// Its property is quick, and holds what becomes of each change.
		without: ['**/*.proof.test.ts'],
	},
};

for (const room of Object.values(module.exports)) {
	room.files ??= ['**/*'];
	room.without ??= [LONG];
}
