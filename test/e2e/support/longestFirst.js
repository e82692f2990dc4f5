// @ts-check
'use strict';

const { default: Sequencer } = require('@jest/test-sequencer');
const { partition } = require('lodash');

/** One test file waits for five minutes. It starts first, so that the others run beside it. */
module.exports = class LongestFirst extends Sequencer {
	/** @param {import('@jest/test-result').Test[]} tests */
	sort(tests) {
		return partition(super.sort(tests), ({ path }) => path.includes('longRun')).flat();
	}
};
