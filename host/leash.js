'use strict';

// Loaded with `node --require` into every server the host starts. The host holds the other end of
// an IPC channel: when the host is gone, however it went, the channel closes and the server ends.
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
if (process.channel) process.channel.unref();
