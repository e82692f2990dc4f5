import { randomBytes } from 'node:crypto';
import type { Clock } from './clock';
import { OWNER } from './entities';
import { unauthorized } from './errors';

/**
 * What a token may do, as the recordings show and as was measured: a `plain` key (a user's) no runs; an
 * `assistant` key runs of its own assistant; a `workspace` key all runs, but it writes no knowledgebase of a
 * workspace and deletes no uploaded file; a `user` token (a JWT) runs, but neither E2 nor E17; the secret of a
 * `session` made with a `plain` key runs all assistants.
 */
export type TokenKind = 'workspace' | 'plain' | 'assistant' | 'user' | 'session';

/**
 * A token the sandbox accepts. `assistantId` goes with kind `assistant`, `workspaceId` with a workspace that has not all
 * assistants; `userId` makes it another user's.
 */
export interface TokenSeed {
	token: string;
	kind?: TokenKind;
	assistantId?: string;
	workspaceId?: string;
	userId?: string;
}

export interface Caller {
	kind: TokenKind;
	assistantId?: string;
	workspaceId?: string;
	userId: string;
}

interface Entry extends Caller {
	expiresAt?: number;
}

const SESSION_PREFIX = 'cs-x-';

/** The tokens the sandbox knows, with the session secrets that E6 hands out. */
export class Tokens {
	private readonly known = new Map<string, Entry>();

	constructor(private readonly clock: Clock) {}

	add({ token, kind = 'workspace', userId = OWNER.userId, ...whose }: TokenSeed): void {
		this.known.set(token, { kind, userId, ...whose });
	}

	/** A new session secret with the rights of the one who asked for it (`E06`), and more than a user's key has. */
	mint(caller: Caller, expiresAt: number): string {
		const secret = SESSION_PREFIX + randomBytes(24).toString('hex');
		const kind = caller.kind === 'plain' ? 'session' : caller.kind;
		this.known.set(secret, { ...caller, kind, expiresAt });
		return secret;
	}

	/** The caller behind the request's headers; throws the 401 of the real server. */
	identify(headers: Record<string, string | string[] | undefined>): Caller {
		const token =
			bearer(headers.authorization) ?? headers['x-api-key'] ?? headers['x-client-secret'];
		if (typeof token !== 'string') throw unauthorized();
		const entry = this.known.get(token);
		if (entry === undefined) {
			throw unauthorized(
				token.startsWith(SESSION_PREFIX) ? 'The requested record was not found' : undefined,
			);
		}
		if (entry.expiresAt !== undefined && entry.expiresAt <= this.clock.now()) {
			throw unauthorized('Token expired');
		}
		return entry;
	}
}

/** The scheme is compared as the server compares it: `Bearer`, exactly so. */
function bearer(header: string | string[] | undefined): string | undefined {
	return typeof header === 'string' && header.startsWith('Bearer ')
		? header.slice('Bearer '.length)
		: undefined;
}
