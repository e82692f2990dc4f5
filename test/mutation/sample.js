// @ts-check
'use strict';

const { createHash } = require('node:crypto');

const { MUTANTS_SHARE, MUTANTS_SEED = '' } = process.env;

/** Has a share of the mutants tried (`MUTANTS_SHARE=0.2`): the same ones with the same `MUTANTS_SEED`. */
class Sample {
	async init() {}

	/** @param {any[]} mutants */
	async check(mutants) {
		return Object.fromEntries(mutants.map((one) => [one.id, this.verdictOn(one)]));
	}

	/** @param {any} mutant */
	verdictOn({ mutatorName, replacement, location, fileName }) {
		const place = [
			/(nodes|credentials)\/.*/.exec(fileName)?.[0],
			location,
			mutatorName,
			replacement,
		];
		const hash = createHash('md5')
			.update(JSON.stringify([MUTANTS_SEED, place]))
			.digest();
		const isIn = hash.readUInt32BE() < Number(MUTANTS_SHARE) * 2 ** 32;
		return isIn ? { status: 'passed' } : { status: 'compileError', reason: 'not in the sample' };
	}
}

exports.strykerPlugins = [{ kind: 'Checker', name: 'sample', injectableClass: Sample }];
