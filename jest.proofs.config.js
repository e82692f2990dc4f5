const base = require('./jest.config.js');

/**
 * The long proofs: every fault, soak, hostile input, the token, memory. Not part of `npm test`, which
 * stays under three minutes.
 *
 * @type {import('jest').Config}
 */
module.exports = {
	...base,
	testMatch: ['<rootDir>/test/**/*.proof.test.ts'],
	testPathIgnorePatterns: base.testPathIgnorePatterns.filter((path) => !path.includes('proof')),
};
