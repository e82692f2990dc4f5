/** @type {import('jest').Config} */
module.exports = {
	...require('./jest.config.js'),
	testMatch: ['<rootDir>/test/e2e/**/*.e2e.test.ts'],
	testPathIgnorePatterns: ['/node_modules/', '/dist/', '<rootDir>/.host/'],
	globalSetup: '<rootDir>/test/e2e/support/globalSetup.ts',
	maxWorkers: 1,
	testTimeout: 120_000,
};
