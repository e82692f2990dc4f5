module.exports = globalThis.requireOfHost('n8n-workflow');
