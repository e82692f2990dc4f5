const base = require('./jest.config.js');

// The unit tests try a sample of what the properties say for any input; here they try more.
process.env.PROPERTY_RUNS ??= '1500';

/**
 * The long proofs: every fault, soak, hostile input, the token, memory. Not part of `npm test`, which
 * stays under three minutes.
 *
 * @type {import('jest').Config}
 */
module.exports = {
	...base,
	testMatch: ['<rootDir>/test/**/*.{proof,property}.test.ts'],
	testPathIgnorePatterns: base.testPathIgnorePatterns.filter((path) => !path.includes('proof')),
};
