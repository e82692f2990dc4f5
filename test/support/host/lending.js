// @ts-check
'use strict';

const { TestEnvironment } = require('jest-environment-node');

/**
 * Lends tests modules as Node itself has loaded them: once for all files of a worker, and not anew in each. They
 * also work faster than those loaded by jest, for which each look at a global, as `Array`, is slow:
 * zod's checks take a fraction of the time. The modules beside this one give them to tests.
 */
module.exports = class LendingEnvironment extends TestEnvironment {
	/** @param {ConstructorParameters<typeof TestEnvironment>} given */
	constructor(...given) {
		super(...given);
		this.global.requireOfHost = require;
	}
};
