import '../environment';

// Its schedule would tell every minute what is on it, in a timer that keeps the process alive.
process.env.N8N_LOG_CRON_ACTIVE_INTERVAL = '0';
// Files are on disk, as newer hosts keep them by themselves; this one would keep them in memory.
process.env.N8N_DEFAULT_BINARY_DATA_MODE = 'filesystem';
