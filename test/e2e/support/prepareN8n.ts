import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ensureN8n } from '../../../host/install';
import { preparePackage } from '../../../host/nodePackage';
import { workFolder } from '../../../host/paths';
import { USER_FOLDER_PREFIX } from './userFolder';

const DAY = 24 * 60 * 60 * 1000;

export async function prepareN8n(): Promise<void> {
	const startedAt = Date.now();
	const say = (line: string) =>
		process.stderr.write(`[${Math.round((Date.now() - startedAt) / 1000)} s] ${line}\n`);
	await ensureN8n(say);
	await preparePackage(say);
	removeOldUserFolders();
}

/** A test run that was killed leaves its user folder behind; a day later nobody needs it. */
function removeOldUserFolders(): void {
	for (const name of readdirSync(workFolder)) {
		const startedAt = Number(name.slice(USER_FOLDER_PREFIX.length).split('-')[0]);
		if (name.startsWith(USER_FOLDER_PREFIX) && Date.now() - startedAt > DAY) {
			rmSync(join(workFolder, name), { recursive: true, force: true });
		}
	}
}
