/** @type {import('jest').Config} */
module.exports = {
	...require('./jest.config.js'),
	testMatch: ['<rootDir>/test/queue/**/*.queue.ts'],
	globalSetup: '<rootDir>/test/queue/support/globalSetup.ts',
	testTimeout: 180_000,
};
