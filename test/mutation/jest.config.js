const { globSync } = require('fast-glob');

const { projects, testTimeout } = require('../../jest.config.js');
const rooms = require('./rooms.js');

const {
	folder,
	files = ['**/*'],
	tests,
	without = ['**/*{property,proof,nightly,keepingInStep}.test.ts'],
} = rooms[process.env.MUTATED_ROOM ?? 'transport'];
const kind = tests.some((pattern) => pattern.startsWith('test/engine/')) ? 'engine' : 'unit';

const built = globSync(files.map((file) => `dist/${folder}/${file}.js`));

/**
 * What the mutants of a room are tried with, as one file; in most rooms, properties take too long.
 *
 * @type {import('jest').Config}
 */
module.exports = {
	...projects.find(({ displayName }) => displayName === kind),
	testTimeout,
	rootDir: process.cwd(),
	testEnvironment: require.resolve('./loadedOnce.js'),
	testMatch: ['<rootDir>/test/mutation/everyTest.js'],
	globals: {
		TEST_FILES: globSync(tests, { ignore: without }),
		BUILT_FILES: kind === 'engine' ? built : [],
	},
};
