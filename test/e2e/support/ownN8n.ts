import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { startHost, type Host, type HostOptions, type N8n } from '../../../host/host';
import { freshUserFolder } from './userFolder';

/** An n8n to test in, and how to leave it. */
export interface Lodging<Used extends N8n = N8n> {
	n8n: Used;
	leave(): Promise<void>;
}

/** Starts an n8n in a user folder of its own; leaving ends it and removes the folder. */
export async function ownN8n(options: Partial<HostOptions> = {}): Promise<Lodging<Host>> {
	const userFolder = options.userFolder ?? freshUserFolder();
	// What a developer has put into the folder of the project is no part of a test.
	const n8n = await startHost({ ownFolder: join(userFolder, 'own'), ...options, userFolder });
	const leave = async () => {
		await n8n.stop();
		rmSync(n8n.userFolder, { recursive: true, force: true });
	};
	return { n8n, leave };
}
