import rooms from './rooms.js';

const room = process.env.MUTATED_ROOM ?? 'transport';
const { folder, files = ['**/*'] } = rooms[room];

/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
	mutate: files.map((file) => `${folder}/${file}.ts`),
	testRunner: 'jest',
	plugins: ['@stryker-mutator/jest-runner'],
	jest: { configFile: 'test/mutation/jest.config.js', enableFindRelatedTests: true },
	coverageAnalysis: 'perTest',
	concurrency: Number(process.env.MUTANTS_AT_ONCE ?? 2),
	// Loops that have no end are ended sooner; a machine that is busy is no reason to.
	timeoutMS: 10_000,
	ignorePatterns: ['/.host', '/bench', '/docs', '/dist', '/host'],
	reporters: ['json', 'progress-append-only'],
	jsonReporter: { fileName: `.stryker/reports/${room}.json` },
	tempDirName: '.stryker/work',
	// What a user reads may be worded otherwise; a test of words holds it.
	mutator: { excludedMutations: ['StringLiteral'] },
	clearTextReporter: { logTests: false },
};
