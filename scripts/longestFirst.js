// @ts-check
'use strict';

const { default: Sequencer } = require('@jest/test-sequencer');
const { partition } = require('lodash');

/**
 * They take minutes: one waits for five, one opens every example in a browser, one tries hundreds of
 * histories, one takes the node through its life in an n8n.
 */
const LONG = /longRun|editorExamples|keepingInStep\.proof|communityNodes/;

/** The long ones start first, so that the others run beside them. */
module.exports = class LongestFirst extends Sequencer {
	/** @param {import('@jest/test-result').Test[]} tests */
	sort(tests) {
		return partition(super.sort(tests), ({ path }) => LONG.test(path)).flat();
	}
};
