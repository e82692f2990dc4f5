// @ts-check
'use strict';

const { default: Sequencer } = require('@jest/test-sequencer');
const { partition } = require('lodash');

/** They take five minutes: one waits for so long, one tries thousands of histories. */
const LONG = /longRun|keepingInStep\.proof/;

/** The long ones start first, so that the others run beside them. */
module.exports = class LongestFirst extends Sequencer {
	/** @param {import('@jest/test-result').Test[]} tests */
	sort(tests) {
		return partition(super.sort(tests), ({ path }) => LONG.test(path)).flat();
	}
};
