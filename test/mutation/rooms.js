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
	// The door of all fields that say which one something is, or whose, is held beside it.
	identity: {
		folder: 'nodes/XpertAi',
		files: [
			'payloads/{identity,keys,missingValues,template,codePathEnd,codeTokens}',
			'execution/{identityFields,missingExpressionPart}',
		],
		engine: ['ingestIdentity', 'ingestMissingValues'],
		without: [
			LONG,
			'test/nodes/XpertAi/!(payloads|execution)/**',
			'test/nodes/XpertAi/*.test.ts',
			'test/nodes/XpertAi/{payloads,execution}/!(identity|identityFields|keys|missingValues|template).test.ts',
		],
	},
	execution: {
		folder: 'nodes/XpertAi/execution',
		// What the editor shows of fields is held by test/package/surface, here and below.
		files: ['!(fieldBuilders|identityFields|missingExpressionPart)'],
		// The session of a chat gives runs their key; what all operations show is held where they are listed.
		engine: [
			...['../nodes/words', '../nodes/XpertAi/catalogue'],
			...['../package/surface', '../package/builderHints'],
			...['expressions', 'ids', 'ingestEncodings', 'limits', 'lists', 'outcomes', 'requests'],
			...['runsAsTool', 'runsKey', 'toolOutput', 'uploads'],
		],
	},
	pickers: { folder: 'nodes/XpertAi/pickers', files: ['!(locators)'], engine: ['pickers'] },
	payloads: {
		folder: 'nodes/XpertAi/payloads',
		files: ['!(identity|keys|missingValues|template|codePathEnd|codeTokens)'],
	},
	// Simple operations are data: what they send, and make of answers, is held by the cases of all operations.
	operations: {
		folder: 'nodes/XpertAi/operations',
		files: ['!(document|thread)/*'],
		engine: [
			...['../nodes/XpertAi/operations/answers', '../nodes/XpertAi/catalogue'],
			// How fields look is held by the surface, their rows by what fills them.
			...['../package/surface', 'ingestMetadata', 'runsFilters'],
			...[
				'assistants',
				'conversations',
				'knowledgebases',
				'lists',
				'outcomes',
				'requests',
				'uploads',
			],
		],
		without: ['test/nodes/XpertAi/operations/{document,thread}/**', LONG],
	},
	credentials: { folder: 'credentials', engine: ['credentials'] },
	documents: {
		folder: 'nodes/XpertAi/operations/document',
		files: ['*', 'submit/!(fields)', 'submit/sources/*'],
		engine: ['ingest*', 'documents', 'keys'],
	},
	thread: {
		folder: 'nodes/XpertAi/operations/thread',
		files: ['*', 'run/!(fields|optionFields)'],
		// The answers of Get and Copy are held with those of all operations.
		engine: ['runs*', 'keys', '../nodes/XpertAi/operations/answers'],
	},
	ingest: { folder: 'nodes/XpertAi/ingest', files: ['*'] },
	// Its properties are quick, and hold most of it; proofs take whole nights.
	memory: { folder: 'nodes/XpertAi/ingest/memory', without: ['**/*.proof.test.ts'] },
	// Most of its promises are about what comes of several requests.
	runs: { folder: 'nodes/XpertAi/runs', engine: ['runs*'] },
	threads: { folder: 'nodes/XpertAi/threads', engine: ['runs*'] },
	trigger: {
		folder: 'nodes/XpertAiTrigger',
		files: ['readChanges', 'pollState', 'items', 'poll', 'conversationChanges'],
		engine: ['trigger*'],
		// Its property is quick, and holds what becomes of each change.
		without: ['**/*.proof.test.ts'],
	},
};

for (const room of Object.values(module.exports)) {
	room.files ??= ['**/*'];
	room.without ??= [LONG];
}
