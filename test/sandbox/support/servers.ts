import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AssistantSeed, SandboxOptions, TokenSeed } from '../../../sandbox';
import type { Server } from './recordings';

/** What the recorded servers had: their keys by their descriptions, and their assistants. */
const { tokens, assistants, copilots, ofEndpoints } = JSON.parse(
	readFileSync(join(__dirname, 'servers.json'), 'utf8'),
) as {
	tokens: Record<string, TokenSeed>;
	assistants: AssistantSeed[];
	copilots: string[];
	ofEndpoints: Record<Server['options'], SandboxOptions>;
};

export { copilots, ofEndpoints };
export const MAIN = '12280b80-6642-447f-9ad9-dbbdb589e2c5';

export const WORKSPACE = '447809ed-4fdc-4c86-a1a8-8b028415ef3f';

const WORKSPACE_KEY = 'workspace-key';

/** The token an exchange was sent with, that of a workspace where nothing is said; undefined for none. */
export function tokenFor(key: string | undefined): string | undefined {
	if (key === 'none') return undefined;
	if (key === undefined || key === 'workspace' || key === 'of a workspace') return WORKSPACE_KEY;
	return tokens[key]?.token ?? key;
}

/** A server of the recordings, with all that were on one of them. */
export const RECORDED: SandboxOptions = {
	accessToken: WORKSPACE_KEY,
	tokens: Object.values(tokens),
	assistants,
};
