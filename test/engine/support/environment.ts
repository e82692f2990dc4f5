import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

// n8n-core reads these while it is being loaded, so this module is imported before it.
process.env.N8N_USER_FOLDER ??= mkdtempSync(path.join(tmpdir(), 'xpertai-engine-'));
process.env.N8N_ENCRYPTION_KEY ??= 'engine-tests';
process.env.N8N_LOG_LEVEL ??= 'silent';
