// @ts-check
'use strict';

const { createRequire } = require('node:module');

const { sortBy } = require('lodash');

/** Jest's own, which stands beside jest. */
const { default: Sequencer } = createRequire(require.resolve('jest'))('@jest/test-sequencer');

/** They take minutes, so the others run beside them. Queue mode comes first, as it waits for most of its time. */
const FIRST = [
	/\.queue\.ts$/,
	/firstSteps|memory\.proof|faultMatrix\.proof/,
	/keepingInStep\.proof|communityNodes|editor\.e2e|network\.proof/,
];

/** The long ones start first: nothing should wait for one of them alone at the end. */
module.exports = class LongestFirst extends Sequencer {
	/**
	 * @param {Array<{ path: string }>} tests
	 */
	sort(tests) {
		/** @param {{ path: string }} test */
		const rank = ({ path }) => {
			const at = FIRST.findIndex((pattern) => pattern.test(path));
			return at < 0 ? FIRST.length : at;
		};
		return sortBy(super.sort(tests), rank);
	}
};
