/**
 * The rooms whose lines keep the promises, and the tests that stand beside them. A mutant has to be killed by
 * the tests of its own room: what only a test far away notices is not held where it is kept.
 *
 * @type {Record<string, { folder: string, files?: string[], tests: string[], least: number }>}
 */
module.exports = {
	transport: {
		folder: 'nodes/XpertAi/transport',
		files: [
			'meaning',
			'retryPolicy',
			'sendWithRetries',
			'allowedDomains',
			'baseUrl',
			'failureReason',
		],
		tests: ['test/nodes/XpertAi/transport'],
		least: 90,
	},
	ingest: { folder: 'nodes/XpertAi/ingest', tests: ['test/nodes/XpertAi/ingest'], least: 87 },
	runs: { folder: 'nodes/XpertAi/runs', tests: ['test/nodes/XpertAi/runs'], least: 90 },
	threads: { folder: 'nodes/XpertAi/threads', tests: ['test/nodes/XpertAi/threads'], least: 90 },
	trigger: {
		folder: 'nodes/XpertAiTrigger',
		// A poll as a whole is n8n's: the tests of the engine hold it.
		files: ['memory', 'reading', 'readingOn', 'giving'],
		tests: ['test/nodes/XpertAiTrigger'],
		least: 90,
	},
};
