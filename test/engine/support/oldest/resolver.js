// @ts-check
'use strict';

const path = require('node:path');

const PROJECT = path.resolve(__dirname, '../../../..');
/** What the oldest host brings, n8n's own modules and those it lends to nodes. */
const HOST = path.join(PROJECT, '.host', 'versions', '1.123.81');
const OF_HOST = /^(n8n-core|n8n-workflow|@n8n\/(?:backend-common|di)|lodash|luxon|zod)(\/.*)?$/;

/** Modules the oldest host has not, or not all of, and what stands in for them in tests. */
/** @type {Record<string, string>} */
const ADAPTED = {
	'n8n-core': path.join(__dirname, 'n8nCore.ts'),
	'@n8n/backend-network': path.join(__dirname, 'backendNetwork.ts'),
};

/**
 * Has the engine tests and the built node use the modules of the oldest host instead of those the
 * project is developed with.
 *
 * @param {string} request
 * @param {{ basedir: string, defaultResolver: (request: string, options: object) => string }} options
 * @returns {string}
 */
module.exports = (request, options) => {
	const { basedir, defaultResolver } = options;
	const isOurs = !path.relative(PROJECT, basedir).split(path.sep).includes('node_modules');
	if (!isOurs) return defaultResolver(request, options);
	const adapted = ADAPTED[request];
	if (adapted !== undefined && basedir !== __dirname) return adapted;
	return defaultResolver(request, OF_HOST.test(request) ? { ...options, basedir: HOST } : options);
};
