import { rmSync } from 'node:fs';
import { startHost, type Host, type HostOptions, type N8n } from '../../../host/host';
import { freshUserFolder } from './userFolder';

/** An n8n to test in, and how to leave it. */
export interface Lodging<Used extends N8n = N8n> {
	n8n: Used;
	leave(): Promise<void>;
}

/** Starts an n8n in a user folder of its own; leaving ends it and removes the folder. */
export async function ownN8n(options: Partial<HostOptions> = {}): Promise<Lodging<Host>> {
	const n8n = await startHost({ userFolder: freshUserFolder(), ...options });
	const leave = async () => {
		await n8n.stop();
		rmSync(n8n.userFolder, { recursive: true, force: true });
	};
	return { n8n, leave };
}
