// @ts-check
'use strict';

const { default: Sequencer } = require('@jest/test-sequencer');
const { partition } = require('lodash');

/** Those that try many cases: most mutants are noticed by a plain test before one of them has to. */
const SLOW = /\.property\.test|keepingInStep|\/plan\.test/;

/** The quick ones come first, as the first test that notices a mutant ends its trial. */
module.exports = class QuickFirst extends Sequencer {
	/** @param {import('@jest/test-result').Test[]} tests */
	sort(tests) {
		const [slow, quick] = partition(super.sort(tests).reverse(), ({ path }) => SLOW.test(path));
		return [...quick, ...slow];
	}
};
