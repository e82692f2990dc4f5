// Tests talk to servers on this machine, where a proxy of the environment does not lead.
const direct = [process.env.no_proxy || process.env.NO_PROXY, '127.0.0.1,localhost,.localhost'];
process.env.NO_PROXY = process.env.no_proxy = direct.filter(Boolean).join(',');

/** @type {import('jest').Config} */
module.exports = {
	testEnvironment: 'node',
	transform: {
		'^.+\\.ts$': ['ts-jest', { tsconfig: 'tsconfig.dev.json', diagnostics: false }],
	},
	testMatch: ['<rootDir>/test/**/*.test.ts'],
	testPathIgnorePatterns: [
		'/node_modules/',
		'/dist/',
		'<rootDir>/test/e2e/',
		'\\.proof\\.test\\.ts$',
		'<rootDir>/.host/',
	],
	modulePathIgnorePatterns: ['<rootDir>/.host/', '<rootDir>/dist/', '<rootDir>/sandbox/dist/'],
	// Jest leaves one core idle, which of two is half.
	maxWorkers: '100%',
	// Only for what hangs: how long a machine takes is no matter of a test.
	testTimeout: 120_000,
	reporters: ['default', '<rootDir>/scripts/resultsReporter.js'],
};
