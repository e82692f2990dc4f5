module.exports = globalThis.requireOfHost('@fastify/multipart');
