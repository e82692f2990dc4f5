import type { AddressInfo } from 'node:net';
import { buildApp } from './app';
import { Tokens, type TokenSeed } from './auth';
import { systemClock, type Clock } from './clock';
import type { Context } from './context';
import { Faults } from './faults';
import { RequestLog } from './requestLog';
import { xpert } from './routes';
import { DEFAULT_ASSISTANTS, DEFAULT_ITEMS, type AssistantSeed } from './seed';
import { Store } from './store';

export type { TokenKind, TokenSeed } from './auth';
export type { Clock } from './clock';
export type { FaultRule } from './faults';
export type { LoggedFile, LoggedRequest } from './requestLog';
export type { AnswerMode, AssistantSeed } from './seed';
export {
	BROKEN_ASSISTANT_ID,
	COPILOT_ID,
	ECHO_ASSISTANT_ID,
	SANDBOX_ASSISTANT_ID,
	WORKSPACE_ID,
} from './seed';
export { FAILING_INPUT, NOTHING_FOUND } from './assistant';
export type { Store } from './store';

/** How to start a sandbox; every option has a default. */
export interface SandboxOptions {
	host?: string;
	/** 0 takes any free port. */
	port?: number;
	/** A token with all rights. */
	accessToken?: string;
	/** Further tokens, e.g. one that may not start runs. */
	tokens?: TokenSeed[];
	/** The assistants to have instead of the default ones. */
	assistants?: AssistantSeed[];
	clock?: Clock;
	/** How long each run takes, in milliseconds; 0 by default. */
	runMs?: number;
	/** False makes E8 and E11 fail as on a server without an embedding model. */
	embeddingModel?: boolean;
}

/** A running sandbox. */
export interface Sandbox {
	/** Base URL, e.g. `http://127.0.0.1:41234`. */
	url: string;
	accessToken: string;
	/** All that is stored; may be read and added to at any time. */
	store: Store;
	/** All requests that arrived. */
	requests: RequestLog;
	/** What is to go wrong. */
	faults: Faults;
	/** Back to the start: seeded assistants and items, no faults, an empty log. */
	reset(): void;
	/** Stops at once, also with open connections. */
	close(): Promise<void>;
}

/** Starts a server of the API in this process and resolves when it listens. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
	const { host = '127.0.0.1', port = 0, accessToken = 'sandbox-token' } = options;
	const context = contextFor({ ...options, accessToken });
	const app = buildApp(context, xpert);
	await app.listen({ host, port });
	const address = app.server.address() as AddressInfo;
	const url = `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`;
	context.url = () => url;
	const { store, requests, faults, reset } = context;
	return { url, accessToken, store, requests, faults, reset, close: () => app.close() };
}

function contextFor(options: SandboxOptions & { accessToken: string }): Context {
	const clock = options.clock ?? systemClock;
	const [store, requests, faults] = [new Store(clock), new RequestLog(), new Faults()];
	const tokens = new Tokens(clock);
	[{ token: options.accessToken }, ...(options.tokens ?? [])].forEach((seed) => tokens.add(seed));
	const reset = () => {
		store.clear();
		requests.clear();
		faults.clear();
		(options.assistants ?? DEFAULT_ASSISTANTS).forEach((seed) => store.putAssistant(seed));
		if (options.assistants) return;
		DEFAULT_ITEMS.forEach((item) => store.putItem(item.namespace, item.key, item.value));
	};
	reset();
	const { runMs = 0, embeddingModel = true } = options;
	return { clock, store, requests, faults, tokens, reset, runMs, embeddingModel, url: () => '' };
}
