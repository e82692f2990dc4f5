import rooms from './rooms.js';

const room = process.env.MUTATED_ROOM;
const { folder, files } = rooms[room];

export default {
	mutate: files.map((file) => `${folder}/${file}.ts`),
	testRunner: 'loadedOnce',
	plugins: ['./test/mutation/loadedOnce.js', './test/mutation/sample.js'],
	checkers: process.env.MUTANTS_SHARE ? ['sample'] : [],
	// The engine runs what is built.
	buildCommand: 'npm run build',
	coverageAnalysis: 'perTest',
	concurrency: Number(process.env.MUTANTS_AT_ONCE ?? 2),
	// Loops that have no end are ended sooner; a machine that is busy is no reason to.
	timeoutMS: 60_000,
	ignorePatterns: ['/.host', '/bench', '/docs/images', '/dist', '/sandbox/dist', '/host/dist'],
	reporters: ['json', 'progress-append-only'],
	jsonReporter: { fileName: `.stryker/reports/${room}.json` },
	tempDirName: '.stryker/work',
	// What a user reads may be worded otherwise; a test of words holds it.
	mutator: { excludedMutations: ['StringLiteral'] },
};
