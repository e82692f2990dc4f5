import { TestEnvironment } from 'jest-environment-node';

import '../../engine/support/environment';

/**
 * Lends tests the modules of n8n as Node itself has loaded them: once for all files of a worker, as in
 * n8n, and not anew in each, which takes seconds. The modules beside this one give them to tests.
 */
export default class HostEnvironment extends TestEnvironment {
	constructor(...given: ConstructorParameters<typeof TestEnvironment>) {
		super(...given);
		this.global.requireOfHost = require;
	}
}
