import type { AddressInfo } from 'node:net';
import { isUndefined, omitBy, pick } from 'lodash';
import { buildApp } from './app';
import { Tokens, type TokenSeed } from './auth';
import { systemClock, turnsWhile, type Clock } from './clock';
import type { Context, Endpoint, Settings } from './context';
import { Faults } from './faults';
import { RequestLog } from './requestLog';
import { ProcessingQueue } from './processing/queue';
import { cancelRuns, killRuns } from './runs/run';
import { SEEDS, type AssistantSeed } from './seed';
import { Store } from './store';

export { anonymous, endpoints, routeName } from './routes';
export type { Endpoint } from './context';
export { FakeClock } from './clock';
export type { FaultRule } from './faults';
export type { RunRecord } from './entities';
export {
	BROKEN_ASSISTANT_ID,
	COPILOT_ID,
	DEPARTMENT_ASSISTANT_ID,
	ECHO_ASSISTANT_ID,
	INTERRUPTING_ASSISTANT,
	SANDBOX_ASSISTANT_ID,
	SANDBOX_KNOWLEDGEBASE_ID,
	SAYING_ASSISTANT,
	WORKSPACE_ID,
} from './seed';
export type { AnswerMode, AssistantSeed, Filtering, ToolSeed } from './seed';
export type { Filter } from './filters';
export type { TokenKind, TokenSeed } from './auth';
export { INTERRUPTING_INPUT, NOTHING_FOUND } from './runs/assistant';

/** How to start a sandbox; every option has a default. */
export interface SandboxOptions extends Partial<Settings> {
	host?: string;
	/** 0 takes any free port. */
	port?: number;
	/** The key of a workspace: it runs every assistant, but writes no knowledgebase of a workspace, nor the first document of one. */
	accessToken?: string;
	tokens?: TokenSeed[];
	/** The assistants to have instead of the default ones. */
	assistants?: AssistantSeed[];
	clock?: Clock;
	/** Where the routes lie; `/api/ai` by default. Empty for the origin itself. */
	prefix?: string;
	/** False keeps of each request only what it was and its length, for tests that send very much. */
	logBodies?: boolean;
	/**
	 * False keeps of each document hardly more than id, name and version, and of each file its first 64 kB, for
	 * tests that send very many or very large ones.
	 */
	keepContents?: boolean;
	/** Endpoints it does not have of its own. */
	endpoints?: Endpoint[];
}

export interface Sandbox {
	url: string;
	accessToken: string;
	/** All that is stored; may be read and added to at any time. */
	store: Store;
	requests: RequestLog;
	faults: Faults;
	/** Cancels what runs on a thread, as somebody does elsewhere; gives how many runs it was. */
	cancelRuns(threadId: string): number;
	/** Runs under way die, as with a process that is killed and up again at once: connections break; gives how many. */
	killRuns(): Promise<number>;
	/** The stream of a run is not kept any more, as a day after its end: joining it is open and silent. */
	expireStream(runId: string): void;
	/** The stream of a run has lost so many events of its beginning, as that of a very long answer; one by default. */
	cutStream(runId: string, events?: number): void;
	/** Sends a POST without a connection, for records that tests need beforehand; gives the parsed answer. */
	post(path: string, body: FormData | object): Promise<unknown>;
	/** Back to the start: the seeded assistants, items and knowledgebase, no faults, an empty log. */
	reset(): void;
	close(): Promise<void>;
}

/** Starts a server of the API in this process and resolves when it listens. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
	const { host = '127.0.0.1', port = 0, accessToken = 'sandbox-token' } = options;
	const context = contextFor({ ...options, accessToken });
	const app = buildApp(context, options.prefix ?? '/api/ai', options.endpoints ?? []);
	await app.listen({ host, port });
	const { port: actual } = app.server.address() as AddressInfo;
	const url = `http://${host.includes(':') ? `[${host}]` : host}:${actual}`;
	context.url = () => url;
	const { store, requests, faults, reset } = context;
	return {
		url,
		accessToken,
		store,
		requests,
		faults,
		reset,
		cancelRuns: (threadId) => cancelRuns(store, threadId),
		killRuns: async () => {
			const killed = killRuns(store);
			app.server.closeAllConnections();
			await turnsWhile(() => true, SEEN_AFTER);
			return killed;
		},
		expireStream: (runId) => store.speeches.get(runId)?.expire(),
		cutStream: (runId, events = 1) => store.speeches.get(runId)?.cut(events),
		post: async (path, payload) => {
			const headers = { authorization: `Bearer ${accessToken}` };
			return (await app.inject({ method: 'POST', url: path, headers, payload })).json();
		},
		close: async () => {
			await app.close();
			store.contents.clear();
		},
	};
}

/** Turns until clients have seen that their connections are gone: they would use them again. */
const SEEN_AFTER = 50;

const DEFAULTS: Settings = {
	runMs: 0,
	wordMs: 0,
	processMs: 100,
	rebuildMs: 100,
	processing: true,
	embeddingModel: true,
};

function contextFor(options: SandboxOptions & { accessToken: string }): Context {
	const clock = options.clock ?? systemClock;
	const store = new Store(clock, options.keepContents);
	const [requests, faults] = [new RequestLog(options.logBodies), new Faults()];
	const tokens = new Tokens(clock);
	[{ token: options.accessToken }, ...(options.tokens ?? [])].forEach((seed) => tokens.add(seed));
	const queue = new ProcessingQueue(() => context);
	const reset = () => {
		queue.clear();
		store.clear();
		requests.clear();
		faults.clear();
		(options.assistants ?? SEEDS.assistants).forEach((seed) => store.putAssistant(seed));
		SEEDS.knowledgebases.forEach((seed) => store.putKnowledgebase({ ...seed }));
		for (const [id, model] of Object.entries(SEEDS.copilotModels)) {
			store.copilotModels.set(id, model);
		}
		if (options.assistants) return;
		SEEDS.items.forEach((item) => store.putItem(item.namespace, item.key, item.value));
	};
	reset();
	const settings = { ...DEFAULTS, ...omitBy(pick(options, Object.keys(DEFAULTS)), isUndefined) };
	const services = { clock, store, requests, faults, tokens, queue, reset, url: () => '' };
	const context: Context = { ...services, ...settings };
	return context;
}
