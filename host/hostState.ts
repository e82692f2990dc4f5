import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { userFolderPaths } from './paths';

const hostStateSchema = z.object({
	/** n8n's key for stored credentials; without it a second start could not read them. */
	encryptionKey: z.string(),
	login: z.object({ email: z.string(), password: z.string() }),
	sandboxToken: z.string(),
	/** The credential made for the sandbox, and the address it was given last. */
	credential: z.object({ id: z.string(), baseUrl: z.string() }).optional(),
	/** Workflow ids by the name of the example file they came from. */
	examples: z.record(z.string()),
});

/** What the host remembers about a user folder from one start to the next. */
export type HostState = z.infer<typeof hostStateSchema>;

/** Reads the state of a user folder, or makes a new one with fresh secrets. */
export function loadState(userFolder: string): HostState {
	mkdirSync(userFolder, { recursive: true });
	let text: string;
	try {
		text = readFileSync(userFolderPaths(userFolder).state, 'utf8');
	} catch {
		const fresh = freshState();
		saveState(userFolder, fresh);
		return fresh;
	}
	return hostStateSchema.parse(JSON.parse(text));
}

/** Writes the state, readable by its owner only. */
export function saveState(userFolder: string, state: HostState): void {
	const text = `${JSON.stringify(state, null, '\t')}\n`;
	writeFileSync(userFolderPaths(userFolder).state, text, { mode: 0o600 });
}

function freshState(): HostState {
	return {
		encryptionKey: randomBytes(24).toString('hex'),
		login: { email: 'owner@example.com', password: `Try-${randomBytes(5).toString('hex')}-1` },
		sandboxToken: `sandbox-${randomBytes(9).toString('hex')}`,
		examples: {},
	};
}
