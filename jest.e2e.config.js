/** @type {import('jest').Config} */
module.exports = {
	...require('./jest.config.js'),
	testMatch: ['<rootDir>/test/e2e/**/*.e2e.test.ts'],
	testPathIgnorePatterns: ['/node_modules/', '/dist/', '<rootDir>/.host/'],
	globalSetup: '<rootDir>/test/e2e/support/globalSetup.ts',
	globalTeardown: '<rootDir>/test/e2e/support/globalTeardown.ts',
	testSequencer: '<rootDir>/test/e2e/support/longestFirst.js',
	// One for the file that only waits, one for all the others.
	maxWorkers: 2,
};
