// @ts-check
'use strict';

const { createRequire } = require('node:module');

const { chunk, partition } = require('lodash');

/** Jest's own, which stands beside jest. */
const { default: Sequencer } = createRequire(require.resolve('jest'))('@jest/test-sequencer');

/**
 * They take minutes: one takes a new user through the editor, one tries hundreds of
 * histories, one takes the node through its life in an n8n.
 */
const LONG = /firstSteps|keepingInStep\.proof|communityNodes|faultMatrix\.proof/;

/** They wait for most of their time: side by side, or beside the longest, they would leave the cores idle. */
const WAITING = /\.queue\.ts$/;

/** The long ones start first, so that the others run beside them; between these come, one by one, those that wait. */
module.exports = class LongestFirst extends Sequencer {
	/**
	 * @param {Array<{ path: string }>} tests
	 */
	sort(tests) {
		const [long, others] = partition(super.sort(tests), ({ path }) => LONG.test(path));
		const [waiting, working] = partition(others, ({ path }) => WAITING.test(path));
		// In the first half: nothing should wait for them alone at the end.
		const size = Math.max(1, Math.ceil(working.length / (2 * waiting.length + 1)));
		const between = chunk(working, size).flatMap((some, place) => [
			...some,
			...waiting.slice(place, place + 1),
		]);
		return [...long, ...between, ...waiting.slice(Math.ceil(working.length / size))];
	}
};
