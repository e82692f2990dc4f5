import rooms from './rooms.js';

const room = process.env.MUTATED_ROOM ?? 'transport';

/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
	mutate: rooms[room].mutate,
	testRunner: 'jest',
	plugins: ['@stryker-mutator/jest-runner'],
	jest: { configFile: 'test/mutation/jest.config.js', enableFindRelatedTests: true },
	coverageAnalysis: 'perTest',
	concurrency: Number(process.env.MUTANTS_AT_ONCE ?? 2),
	timeoutMS: 10_000,
	ignorePatterns: ['/.host', '/bench', '/docs', '/dist', '/host'],
	reporters: ['json'],
	jsonReporter: { fileName: `.stryker/reports/${room}.json` },
	tempDirName: '.stryker/work',
	// What a user reads may be worded otherwise; a test of words holds it.
	mutator: { excludedMutations: ['StringLiteral'] },
	clearTextReporter: { logTests: false },
};
