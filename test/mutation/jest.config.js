const { projects, ...shared } = require('../../jest.config.js');
const rooms = require('./rooms.js');

const unit = projects.find(({ displayName }) => displayName === 'unit');
const { tests } = rooms[process.env.MUTATED_ROOM ?? 'transport'];

/**
 * What the mutants of a room are tried with: the tests beside it, properties included.
 *
 * @type {import('jest').Config}
 */
module.exports = {
	...unit,
	rootDir: '../..',
	testMatch: tests.map((folder) => `<rootDir>/${folder}/**/*.test.ts`),
	testPathIgnorePatterns: [...unit.testPathIgnorePatterns, '(property|keepingInStep|plan)\\.test'],
	testTimeout: shared.testTimeout,
	// Stryker has to find "jest-circus" in its path.
	testRunner: '<rootDir>/test/mutation/jest-circus.js',
	testSequencer: '<rootDir>/test/mutation/quickFirst.js',
};
