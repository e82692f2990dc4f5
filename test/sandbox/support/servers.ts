import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AssistantSeed, SandboxOptions, TokenSeed } from '../../../sandbox';

/** What the recorded servers had: their keys by their descriptions, and their assistants. */
const { tokens, assistants, beforeItsHelper } = JSON.parse(
	readFileSync(join(__dirname, 'servers.json'), 'utf8'),
) as {
	tokens: Record<string, TokenSeed>;
	assistants: AssistantSeed[];
	beforeItsHelper: AssistantSeed;
};

/** What the main assistant had before it got its helper (`one-question-1`). */
export const BEFORE_ITS_HELPER = beforeItsHelper;
export const MAIN = '12280b80-6642-447f-9ad9-dbbdb589e2c5';

/** The workspace of most of the recordings, and what their assistants look into. */
export const WORKSPACE = '447809ed-4fdc-4c86-a1a8-8b028415ef3f';
export const LOOKED_INTO = 'b36e28a1-1253-4f39-b371-35e38b1e0579';
export const QUOKKAS = 'de095f18-49d3-4372-a7da-e276858fb3b5';
export const FILTERED = '1ce4c698-25dd-471c-817d-94cd2c4cce13';

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
