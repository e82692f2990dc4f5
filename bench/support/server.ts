import { fork } from 'node:child_process';
import path from 'node:path';

import type { FaultRule } from '../../sandbox';
import type { CredentialData } from '../../test/engine/support/credentials';
import { nextMessage, stop } from './processes';

/** Where documents go. */
export interface Target {
	credential: CredentialData;
	knowledgebaseId: string;
	/** The URL that stores documents (E3). */
	url: string;
}

/** What has arrived at a server since it was cleared. */
export interface Arrived {
	requests: number;
	/** Of addresses and bodies, and of downloads from the bare server. */
	bytes: number;
	documents: number;
	/** Of notes alone, which only the bare server counts. */
	noteBytes: number;
}

/** What a server can be asked. */
export interface Answers {
	arrived: (argument: undefined) => Arrived;
	/** Forgets what has arrived. */
	clear: (argument: undefined) => Arrived;
	/** Has requests go wrong. */
	faults: (argument: FaultRule[]) => FaultRule[];
	/** How many documents are stored under each name. */
	names: (argument: undefined) => Record<string, number>;
}

/** A server in this process. */
export interface RunningServer {
	target: Target;
	answers: Partial<Answers>;
}

/** A server in a process of its own. */
export interface Server {
	target: Target;
	ask: <Name extends keyof Answers>(
		name: Name,
		argument?: Parameters<Answers[Name]>[0],
	) => Promise<ReturnType<Answers[Name]>>;
	stop: () => Promise<void>;
}

/** The sandbox, or a server that answers at once and keeps next to nothing. */
export type ServerKind = 'sandbox' | 'bare';

/** Starts a server; it ends with this process at the latest. */
export async function startServer(kind: ServerKind): Promise<Server> {
	const child = fork(path.join(__dirname, 'serverProcess.js'), [kind]);
	const target = await nextMessage<Target>(child);
	return {
		target,
		ask: async (name, argument) => {
			const answer = nextMessage<ReturnType<Answers[typeof name]>>(child);
			child.send({ name, argument });
			return await answer;
		},
		stop: async () => await stop(child),
	};
}

/** Does something with a server of its own. */
export async function onServer<Result>(
	kind: ServerKind,
	use: (server: Server) => Promise<Result>,
): Promise<Result> {
	const server = await startServer(kind);
	try {
		return await use(server);
	} finally {
		await server.stop();
	}
}

/** The target at an address. */
export function targetAt(baseUrl: string, accessToken: string, knowledgebaseId: string): Target {
	return {
		credential: { baseUrl, accessToken },
		knowledgebaseId,
		url: `${baseUrl}/api/ai/knowledges/${knowledgebaseId}/bulk`,
	};
}
