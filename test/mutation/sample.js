// @ts-check
'use strict';

const { createHash } = require('node:crypto');

/** Has only a share of the mutants tried (`MUTANTS_SHARE=0.3`), the same ones each time. */
class Sample {
	async init() {}

	/** @param {any[]} mutants */
	async check(mutants) {
		const share = Number(process.env.MUTANTS_SHARE);
		const isIn = (/** @type {any} */ { mutatorName, replacement, location, fileName }) => {
			const name = JSON.stringify([
				mutatorName,
				replacement,
				location,
				fileName.split('/nodes/')[1],
			]);
			return createHash('md5').update(name).digest()[0] < share * 256;
		};
		const verdict = (/** @type {any} */ one) =>
			isIn(one) ? { status: 'passed' } : { status: 'compileError', reason: 'not in the sample' };
		return Object.fromEntries(mutants.map((one) => [one.id, verdict(one)]));
	}
}

exports.strykerPlugins = [{ kind: 'Checker', name: 'sample', injectableClass: Sample }];
