/**
 * The rooms whose lines keep the promises, and the tests that stand beside them. A mutant has to be killed by
 * the tests of its own room: what only a test far away notices is not held where it is kept.
 */
module.exports = {
	transport: {
		mutate: [
			'meaning',
			'retryPolicy',
			'sendWithRetries',
			'allowedDomains',
			'baseUrl',
			'failureReason',
		].map((name) => `nodes/XpertAi/transport/${name}.ts`),
		tests: ['test/nodes/XpertAi/transport'],
	},
	ingest: { mutate: ['nodes/XpertAi/ingest/**/*.ts'], tests: ['test/nodes/XpertAi/ingest'] },
	runs: { mutate: ['nodes/XpertAi/runs/**/*.ts'], tests: ['test/nodes/XpertAi/runs'] },
	trigger: {
		mutate: ['memory', 'reading', 'readingOn', 'giving', 'poll'].map(
			(name) => `nodes/XpertAiTrigger/${name}.ts`,
		),
		tests: ['test/nodes/XpertAiTrigger'],
	},
};
