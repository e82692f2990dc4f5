module.exports = globalThis.requireOfHost('zod');
