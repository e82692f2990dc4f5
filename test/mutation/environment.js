const { TestEnvironment } = require('jest-environment-node');

/** Lends tests what Node has loaded once: a mutant is tried in seconds, of which loading took the most. */
module.exports = class extends TestEnvironment {
	constructor(...given) {
		super(...given);
		this.global.requireOfHost = require;
	}
};
