// @ts-check
'use strict';

const { mkdtempSync } = require('node:fs');
const { tmpdir } = require('node:os');
const path = require('node:path');

const { TestEnvironment } = require('jest-environment-node');

// n8n-core reads these while it is being loaded.
process.env.N8N_USER_FOLDER ??= mkdtempSync(path.join(tmpdir(), 'xpertai-engine-'));
process.env.N8N_ENCRYPTION_KEY ??= 'engine-tests';
process.env.N8N_LOG_LEVEL ??= 'silent';

/**
 * Lends tests the modules of n8n as Node itself has loaded them: once for all files of a worker, as in
 * n8n, and not anew in each, which takes seconds. The modules beside this one give them to tests.
 */
module.exports = class HostEnvironment extends TestEnvironment {
	/** @param {ConstructorParameters<typeof TestEnvironment>} given */
	constructor(...given) {
		super(...given);
		this.global.requireOfHost = require;
	}
};
