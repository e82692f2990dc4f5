module.exports = globalThis.requireOfHost('fastify');
