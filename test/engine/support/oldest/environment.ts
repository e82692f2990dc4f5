import '../environment';

// Its schedule would tell every minute what is on it, in a timer that keeps the process alive.
process.env.N8N_LOG_CRON_ACTIVE_INTERVAL = '0';
