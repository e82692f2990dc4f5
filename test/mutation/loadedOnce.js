// @ts-check
'use strict';

/**
 * Tries mutants with tests of the engine. Loading these takes seconds for each file, so here all files are loaded once,
 * as one, and jest runs the tests that come by a mutant again for each. Jest loads this as the environment of that one
 * file, and Stryker as its test runner.
 */
const { existsSync, mkdtempSync, readFileSync, writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');

const { runCLI } = require('jest');
const { meanBy, sortBy } = require('lodash');

// n8n-core reads these while it is being loaded.
process.env.N8N_USER_FOLDER ??= mkdtempSync(join(tmpdir(), 'xpertai-engine-'));
process.env.N8N_ENCRYPTION_KEY ??= 'engine-tests';
process.env.N8N_LOG_LEVEL ??= 'silent';

const LendingEnvironment = require('../support/host/lending.js');

/** @typedef {{ id: string, ms: number, errors: any[] }} Result of a test */

/** What the instrumented code looks at: which mutant is active. It writes down there which test comes by which. */
const stryker = /** @type {any} */ ({});
/** @type {any} */ (globalThis).__stryker__ = stryker;

const TIMES = '.stryker-times.json';

/** What jest is to run next, and who waits for what comes of it. */
const line = {
	/** @type {Promise<string[] | undefined>} the ids of tests; all without them */
	next: Promise.resolve(undefined),
	/** @type {(results: Result[] | Error) => void} */
	answer: () => undefined,
};

const idOf = (/** @type {any} */ { name, parent }) =>
	parent.parent ? `${idOf(parent)} ${name}` : name;

const testsIn = (/** @type {any} */ block) =>
	block.children.flatMap((/** @type {any} */ child) =>
		child.type === 'test' ? [child] : testsIn(child),
	);

/** Jest goes on with what is added to the tests of a file while it runs. */
class LoadedOnce extends LendingEnvironment {
	/** @param {ConstructorParameters<typeof LendingEnvironment>} given */
	constructor(...given) {
		super(...given);
		/** @type {any} */ (this.global).__stryker__ = stryker;
		// As in test/support/host/environment.ts: what shortens the sleeps of the node has to reach the one that runs.
		this.global.requireOfEngine = this.global.requireOfHost;
		// Modules that n8n's tests are lent ask for these errors.
		Object.assign(this.global, { Error, RangeError, SyntaxError, TypeError });
		this.files = /** @type {any[]} */ ([]);
		/** @type {Map<any, string>} all tests, and whether they are to be skipped */
		this.modes = new Map();
		this.results = /** @type {Result[]} */ ([]);
		/** How long each test takes without a mutant: processes that come after the first read it. */
		this.times = new Map(existsSync(TIMES) ? JSON.parse(readFileSync(TIMES, 'utf8')) : []);
	}

	/**
	 * @param {any} event
	 * @param {any} state
	 */
	async handleTestEvent({ name, test, describeBlock }, { rootDescribeBlock: root }) {
		if (name === 'run_start') {
			this.files = [...root.children];
			this.modes = new Map(testsIn(root).map((/** @type {any} */ one) => [one, one.mode]));
			this.skipRest();
		}
		if (name === 'test_start') stryker.currentTestId = idOf(test);
		if (name === 'test_done') this.takeResult(test);
		if (name === 'run_describe_finish' && describeBlock === root.children.at(-1))
			await this.addNext(root);
	}

	skipRest() {
		for (const test of this.modes.keys()) test.mode = 'skip';
	}

	/** @param {any} test */
	takeResult(test) {
		const { errors, duration: ms = 0 } = test;
		stryker.currentTestId = undefined;
		this.results.push({ id: idOf(test), ms, errors });
		if (stryker.activeMutant !== undefined && errors.length > 0) this.skipRest();
	}

	/** @param {any} root */
	async addNext(root) {
		line.answer(this.results.splice(0));
		const ids = await line.next;
		const wanted = ids && new Set(ids);
		for (const [test, mode] of this.modes) {
			const isWanted = !wanted || wanted.has(idOf(test));
			Object.assign(test, { mode: isWanted ? mode : 'skip', errors: [], status: null });
			// With a mutant, it may never end.
			if (ids) test.timeout = Math.max(LEAST_MS, FACTOR * (this.times.get(idOf(test)) ?? 0));
		}
		const files = this.files.filter((file) => testsIn(file).some(({ mode }) => mode !== 'skip'));
		const quickFirst = sortBy(files, (file) =>
			meanBy(testsIn(file), (one) => this.times.get(idOf(one)) ?? 0),
		);
		root.children.push(...quickFirst);
	}
}

/** A test that takes so much longer than without a mutant does not end. */
const FACTOR = 5;
const LEAST_MS = 5_000;

class Runner {
	capabilities() {
		return { reloadEnvironment: false };
	}

	async dryRun() {
		const results = await this.run();
		writeFileSync(TIMES, JSON.stringify(results.map(({ id, ms }) => [id, ms])));
		const tests = results.map(({ id, ms, errors }) => ({
			id,
			name: id,
			timeSpentMs: ms,
			status: errors.length > 0 ? FAILED : PASSED,
			...(errors.length > 0 && { failureMessage: messageOf(errors) }),
		}));
		return { status: 'complete', tests, mutantCoverage: stryker.mutantCoverage };
	}

	/**
	 * @param {{ activeMutant: { id: string }, testFilter?: string[], hitLimit?: number, mutantActivation: string }} options
	 */
	async mutantRun({ activeMutant, testFilter, hitLimit, mutantActivation }) {
		Object.assign(stryker, { activeMutant: activeMutant.id, hitCount: 0, hitLimit });
		const results = await this.run(testFilter);
		Object.assign(stryker, { activeMutant: undefined, hitCount: undefined, hitLimit: undefined });
		const failed = results.find(({ errors }) => errors.length > 0);
		const nrOfTests = results.length;
		if (!failed) return { status: 'survived', nrOfTests };
		// What a mutant has left behind must not count for the next one: Stryker begins anew, as after a static one.
		if (mutantActivation !== 'static') {
			const [again] = await this.run([failed.id]);
			if (again?.errors.length !== 0) throw new Error(messageOf(again?.errors));
		}
		return {
			status: 'killed',
			killedBy: [failed.id],
			failureMessage: messageOf(failed.errors),
			nrOfTests,
		};
	}

	/** @param {string[]} [ids] */
	async run(ids) {
		// A mutant of what runs while files are loaded is active by now.
		if (!this.tell) await this.ask(ids);
		return await this.ask(ids);
	}

	/**
	 * @param {string[]} [ids] what to run; the first time, jest begins and runs nothing
	 * @returns {Promise<Result[]>}
	 */
	async ask(ids) {
		const { tell = start } = this;
		const answered = new Promise((resolve) => (line.answer = resolve));
		line.next = new Promise((resolve) => (this.tell = resolve));
		tell(ids);
		const answer = await answered;
		if (answer instanceof Error) throw answer;
		return /** @type {any} */ (answer);
	}
}

/** As Stryker counts them. */
const [PASSED, FAILED] = [0, 1];

/** @param {any} errors of a test, each of which may stand beside the place where it was seen */
const messageOf = (errors = []) => {
	const [first] = errors.flat();
	return String(first?.stack ?? first);
};

function start() {
	const quiet = { runInBand: true, watchman: false, silent: true, reporters: [] };
	const args = { ...quiet, config: JSON.stringify(require('./jest.config.js')), _: [], $0: '' };
	runCLI(/** @type {any} */ (args), [process.cwd()]).then(
		({ results }) =>
			line.answer(new Error(results.testResults[0]?.failureMessage ?? 'jest has ended')),
		(error) => line.answer(error),
	);
}

exports.__esModule = true;
exports.default = LoadedOnce;
exports.strykerPlugins = [{ kind: 'TestRunner', name: 'loadedOnce', injectableClass: Runner }];
