const { globSync } = require('fast-glob');

const { projects, testTimeout } = require('../../jest.config.js');
const rooms = require('./rooms.js');

const { folder, files, engine = [], without } = rooms[process.env.MUTATED_ROOM];
const kind = engine.length > 0 ? 'engine' : 'unit';
const tests = [`test/${folder}/**/*`, ...engine.map((name) => `test/engine/${name}`)];

/**
 * What the mutants of a room are tried with, as one file: everyTest.js.
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
		TEST_FILES: globSync(
			tests.map((name) => `${name}.test.ts`),
			{ ignore: without },
		),
		BUILT_FILES:
			kind === 'engine' ? globSync(files.map((file) => `dist/${folder}/${file}.js`)) : [],
	},
};
