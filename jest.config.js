// Tests talk to servers on this machine, where a proxy of the environment does not lead.
const direct = [process.env.no_proxy || process.env.NO_PROXY, '127.0.0.1,localhost,.localhost'];
process.env.NO_PROXY = process.env.no_proxy = direct.filter(Boolean).join(',');

const IGNORED = ['/node_modules/', '/dist/', '<rootDir>/.host/'];

/** @type {import('jest').Config} */
const shared = {
	testEnvironment: 'node',
	transform: {
		'^.+\\.ts$': ['ts-jest', { tsconfig: 'tsconfig.dev.json', diagnostics: false }],
	},
	testPathIgnorePatterns: IGNORED,
	// Tests name files from the root of the project. Their helpers do not: Node loads some without jest.
	modulePaths: ['<rootDir>'],
	modulePathIgnorePatterns: ['.host', 'dist', 'sandbox/dist', '.stryker'].map(
		(folder) => `<rootDir>/${folder}/`,
	),
};

/** In a run that goes on to the proofs, which try each property more often, the sample would be the second time. */
const LONG_ONLY = process.env.PROPERTIES_LATER ? 'proof|nightly|property' : 'proof|nightly';
const NO_UNITS = [...IGNORED, `\\.(${LONG_ONLY})\\.test\\.ts$`];
/** What only a change of the sandbox, of the recordings or of a tool can break: `.ci/run` and tools.yml know when. */
const OF_TOOLS = 'test/(host|sandbox/(?!replay|sequences))';
const ENGINE_FOLDERS = ['engine', 'examples'];
const ON_ENGINE = `test/(${ENGINE_FOLDERS.join('|')})/`;

/**
 * The modules that are loaded once for all files of a worker, by Node itself: see test/support/host/lending.js.
 *
 * @param {string[]} names
 */
const lent = (...names) => ({
	[`^(?:@(?:n8n|fastify)/)?(${names.join('|')})$`]: '<rootDir>/test/support/host/$1.js',
});

/**
 * The pure parts.
 *
 * @type {import('jest').Config}
 */
const pure = {
	...shared,
	// Stryker wants it as Node finds it.
	testEnvironment: require.resolve('./test/support/host/lending.js'),
	moduleNameMapper: lent('lodash', 'zod', 'fastify', 'multipart'),
};

/**
 * What runs the built node in n8n's engine: n8n's modules are lent as well, as in n8n. Loaded anew by jest for each
 * file, they would take half of the time.
 *
 * @type {import('jest').Config}
 */
const onEngine = {
	...shared,
	testEnvironment: '<rootDir>/test/support/host/environment.ts',
	moduleNameMapper: lent(
		'n8n-core',
		'n8n-workflow',
		'di',
		'backend-common',
		'backend-network',
		'lodash',
		'zod',
		'fastify',
		'multipart',
	),
};

/** @type {import('jest').Config} */
const unit = {
	...pure,
	displayName: 'unit',
	testMatch: ['<rootDir>/test/**/*.test.ts'],
	testPathIgnorePatterns: [...NO_UNITS, '<rootDir>/test/e2e/', ON_ENGINE, OF_TOOLS],
};

/** The sandbox itself, in recorded time too, and the tools beside the package. */
const tools = {
	...pure,
	displayName: 'tools',
	testMatch: ['<rootDir>/test/{host,sandbox}/**/*.test.ts'],
	testPathIgnorePatterns: [...NO_UNITS, 'test/sandbox/(replay|sequences)'],
};

/** @type {import('jest').Config} */
const engine = {
	...onEngine,
	displayName: 'engine',
	testMatch: [`<rootDir>/test/{${ENGINE_FOLDERS.join(',')}}/**/*.test.ts`],
	testPathIgnorePatterns: NO_UNITS,
};

/** The long ones: every fault, soak, hostile input, the token, memory, and the properties with many more runs. */
const proofs = {
	...pure,
	displayName: 'proofs',
	testMatch: ['<rootDir>/test/**/*.{proof,property}.test.ts'],
	testPathIgnorePatterns: [...IGNORED, ON_ENGINE],
	setupFiles: ['<rootDir>/test/support/manyRuns.js'],
};

/** @type {import('jest').Config} */
const engineProofs = {
	...onEngine,
	displayName: 'engineProofs',
	testMatch: [`<rootDir>/test/{${ENGINE_FOLDERS.join(',')}}/**/*.{proof,property}.test.ts`],
	setupFiles: ['<rootDir>/test/support/manyRuns.js'],
};

/** What takes too long for every change. */
const nightly = {
	...shared,
	displayName: 'nightly',
	testMatch: ['<rootDir>/test/!(e2e)/**/*.nightly.test.ts'],
};

/** What runs a real n8n: beside other work each step may take long. */
const onHost = {
	...shared,
	setupFilesAfterEnv: ['<rootDir>/test/support/patience.ts'],
};

const e2e = {
	...onHost,
	displayName: 'e2e',
	testMatch: ['<rootDir>/test/e2e/**/*.e2e.test.ts'],
	globalSetup: '<rootDir>/test/e2e/support/globalSetup.ts',
	globalTeardown: '<rootDir>/test/e2e/support/globalTeardown.ts',
};

const queue = {
	...onHost,
	displayName: 'queue',
	testMatch: ['<rootDir>/test/queue/**/*.queue.ts'],
	globalSetup: '<rootDir>/test/queue/support/globalSetup.ts',
};

/** The node out of a registry: published, installed, updated and removed as its users do. */
const install = {
	...onHost,
	displayName: 'install',
	testMatch: ['<rootDir>/test/install/**/*.install.ts'],
	globalSetup: '<rootDir>/test/install/support/globalSetup.ts',
};

/** The packed node in one real n8n after another, with `XPERTAI_HOST`: scripts/testHosts.js. */
const hosts = {
	...onHost,
	displayName: 'hosts',
	testMatch: ['<rootDir>/test/hosts/**/*.hosts.ts'],
};

/** The engine tests on the n8n-core of the oldest host, which scripts/testHosts.js has installed. */
const oldestEngine = {
	...shared,
	displayName: 'oldestEngine',
	testEnvironment: require.resolve('./test/support/host/lending.js'),
	moduleNameMapper: lent('fastify', 'multipart'),
	testMatch: engine.testMatch,
	testPathIgnorePatterns: [
		...NO_UNITS,
		// That n8n-core has no `loadOutputSchema`: its editor shows no previews of a node's output.
		'test/engine/(outputPreviews|triggerPreview)\\.test\\.ts$',
	],
	// That n8n-core reads the environment as soon as it is loaded.
	setupFiles: ['<rootDir>/test/engine/support/oldest/environment.ts'],
	resolver: '<rootDir>/test/engine/support/oldest/resolver.js',
};

/**
 * The kinds of tests: `npx jest --selectProjects e2e -- test/e2e/stop`.
 *
 * @type {import('jest').Config}
 */
module.exports = {
	projects: [
		unit,
		engine,
		tools,
		proofs,
		engineProofs,
		nightly,
		e2e,
		queue,
		install,
		hosts,
		oldestEngine,
	],
	// Nothing is watched by its daemon, which a machine may lack.
	watchman: false,
	// Jest leaves one core idle, which of two is half.
	maxWorkers: '100%',
	// Only for what hangs: how long a machine takes is no matter of a test.
	testTimeout: 180_000,
	// A worker that is slow to end on a busy machine has no leak; openResources.proof looks for those.
	workerGracefulExitTimeout: 10_000,
	testSequencer: '<rootDir>/scripts/longestFirst.js',
	reporters: [
		'default',
		'<rootDir>/scripts/resultsReporter.js',
		'<rootDir>/scripts/titlesReporter.js',
	],
};
