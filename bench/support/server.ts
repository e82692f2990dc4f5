import { fork } from 'node:child_process';
import path from 'node:path';

import type { CredentialData } from '../../test/engine/support/credentials';
import { nextMessage, stop } from './processes';

/** The sandbox, or a server that only reads and answers, to see what the clients cost by themselves. */
export type ServerKind = 'sandbox' | 'bare';

/** Where documents go. */
export interface Target {
	credential: CredentialData;
	knowledgebaseId: string;
	/** The URL of E3. */
	url: string;
}

/** What has arrived at a server. */
export interface Arrived {
	requests: number;
	documents: number;
}

/** A server in a process of its own. */
export interface Server {
	target: Target;
	/** What has arrived since it started. */
	arrived: () => Promise<Arrived>;
	stop: () => Promise<void>;
}

const MODULES: Record<ServerKind, string> = { sandbox: 'sandboxChild.js', bare: 'bareChild.js' };

/** Starts a server; it ends with this process at the latest. */
export async function startServer(kind: ServerKind): Promise<Server> {
	const child = fork(path.join(__dirname, MODULES[kind]), []);
	const target = await nextMessage<Target>(child);
	return {
		target,
		arrived: async () => {
			const answer = nextMessage<Arrived>(child);
			child.send('arrived');
			return await answer;
		},
		stop: async () => await stop(child),
	};
}

/** In a server's process: tells where it is, and from then on what has arrived. */
export function serve(target: Target, arrived: () => Arrived): void {
	process.on('message', () => process.send?.(arrived()));
	process.on('disconnect', () => process.exit());
	process.send?.(target);
}

/** The target that lies at an address. */
export function targetAt(baseUrl: string, accessToken: string, knowledgebaseId: string): Target {
	return {
		credential: { baseUrl, accessToken },
		knowledgebaseId,
		url: `${baseUrl}/api/ai/knowledges/${knowledgebaseId}/bulk`,
	};
}
