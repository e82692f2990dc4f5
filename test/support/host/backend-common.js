module.exports = globalThis.requireOfHost('@n8n/backend-common');
