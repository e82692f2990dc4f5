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
};
