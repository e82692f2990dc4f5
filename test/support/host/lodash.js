module.exports = globalThis.requireOfHost('lodash');
