import { fork } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import type { FaultRule } from '../../sandbox';
import type { CredentialData } from '../../test/engine/support/credentials';
import { nextMessage, stop } from './processes';

/** Where documents go. */
export interface Target {
	credential: CredentialData;
	knowledgebaseId: string;
	/** The URL of E3. */
	url: string;
}

/** What has arrived at a server. */
export interface Arrived {
	/** Requests that stored documents, and the bytes of their bodies. */
	requests: number;
	bytes: number;
	documents: number;
	/** All requests. */
	asked: number;
	/** Requests that stored notes instead, and their bytes, where the server is the one that costs nothing. */
	notes: number;
	noteBytes: number;
}

/** A server that lies behind a network and takes its time. */
export interface Distance {
	roundTripMs: number;
	/** What storing a document takes, and each request beside that. */
	documentMs: number;
	/** What taking a file takes. */
	uploadMs: number;
}

/** What the sandbox of a measurement is like. */
export interface ServerSettings {
	/** Behind TLS and a network; else it is near and takes plain HTTP. */
	distance?: Distance;
	/** What processing a document takes. */
	processMs?: number;
	keepContents?: boolean;
	/** A server that costs next to nothing in place of the sandbox, and can be asked for what has arrived only. */
	bare?: boolean;
}

/** What a server is asked. */
export interface Questions {
	arrived: { argument: undefined; answer: Arrived };
	/** Forgets documents and requests. */
	clear: { argument: undefined; answer: true };
	/** Has requests go wrong. */
	faults: { argument: FaultRule[]; answer: true };
	/** Ids of the documents stored under each name. */
	names: { argument: undefined; answer: Record<string, number> };
	/** When each word of the newest answer was said, in milliseconds since the epoch. */
	said: { argument: undefined; answer: number[] };
}

/** A server in a process of its own. */
export interface Server {
	target: Target;
	/** For clients that are to trust its certificate. */
	env: NodeJS.ProcessEnv;
	ask: <Name extends keyof Questions>(
		name: Name,
		argument?: Questions[Name]['argument'],
	) => Promise<Questions[Name]['answer']>;
	stop: () => Promise<void>;
}

/** What a server says first. */
export interface Greeting {
	target: Target;
	/** The certificate to trust. */
	certificate?: string;
}

/** Does something with a server of its own. */
export async function onServer<Result>(
	settings: ServerSettings,
	use: (server: Server) => Promise<Result>,
): Promise<Result> {
	const server = await startServer(settings);
	try {
		return await use(server);
	} finally {
		await server.stop();
	}
}

/** Starts a server; it ends with this process at the latest. */
export async function startServer(settings: ServerSettings = {}): Promise<Server> {
	const module = settings.bare ? 'bareChild.js' : 'sandboxChild.js';
	const child = fork(path.join(__dirname, module), [JSON.stringify(settings)]);
	const { target, certificate } = await nextMessage<Greeting>(child);
	const folder = mkdtempSync(path.join(tmpdir(), 'xpertai-bench-'));
	const file = path.join(folder, 'certificate.pem');
	if (certificate !== undefined) writeFileSync(file, certificate);
	return {
		target,
		env: certificate === undefined ? {} : { NODE_EXTRA_CA_CERTS: file },
		ask: async (name, argument) => {
			const answer = nextMessage<Questions[typeof name]['answer']>(child);
			child.send({ name, argument });
			return await answer;
		},
		stop: async () => {
			await stop(child);
			rmSync(folder, { recursive: true, force: true });
		},
	};
}

/** How each question is answered. */
export type Answers = {
	[Name in keyof Questions]: (argument: Questions[Name]['argument']) => Questions[Name]['answer'];
};

/** In a server's process: tells where it is, and from then on what it is asked. */
export function serve(greeting: Greeting, answers: Partial<Answers>): void {
	process.on('message', (question) => {
		const { name, argument } = question as { name: keyof Answers; argument: never };
		const answer = answers[name];
		if (!answer) throw new Error(`This server does not know ${name}`);
		process.send?.(answer(argument));
	});
	process.on('disconnect', () => process.exit());
	process.send?.(greeting);
}

/** The target that lies at an address. */
export function targetAt(baseUrl: string, accessToken: string, knowledgebaseId: string): Target {
	return {
		credential: { baseUrl, accessToken },
		knowledgebaseId,
		url: `${baseUrl}/api/ai/knowledges/${knowledgebaseId}/bulk`,
	};
}
