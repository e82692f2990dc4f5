// @ts-check
'use strict';

const { default: Sequencer } = require('@jest/test-sequencer');
const { partition } = require('lodash');

/**
 * They take minutes: one waits for five, one opens every example in a browser, one tries hundreds of
 * histories, one takes the node through its life in an n8n.
 */
const LONG = /longRun|editorExamples|keepingInStep\.proof|communityNodes/;

/** They wait for most of their time: beside the longest, which does so too, they would leave a core idle. */
const WAITING = /\.queue\.ts$/;

/** The long ones start first, so that the others run beside them; those that wait come when these are done. */
module.exports = class LongestFirst extends Sequencer {
	/** @param {import('@jest/test-result').Test[]} tests */
	sort(tests) {
		const [long, others] = partition(super.sort(tests), ({ path }) => LONG.test(path));
		const [waiting, working] = partition(others, ({ path }) => WAITING.test(path));
		const third = Math.ceil(working.length / 3);
		return [long, working.slice(0, third), waiting, working.slice(third)].flat();
	}
};
