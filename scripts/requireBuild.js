// @ts-check
'use strict';

/** `npm pack` and `npm publish` run this first: a tarball without `dist` would hold no node. */
const { existsSync } = require('node:fs');
const path = require('node:path');

const manifest = require('../package.json');

const built = [...manifest.n8n.nodes, ...manifest.n8n.credentials];
const missing = built.filter((file) => !existsSync(path.resolve(__dirname, '..', file)));
if (missing.length > 0) {
	process.stderr.write(`${missing.join(', ')} is not there. Run "npm run build" first.\n`);
	process.exitCode = 1;
}
