module.exports = globalThis.requireOfHost('n8n-core');
