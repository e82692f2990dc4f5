import { cpSync, mkdirSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { n8nEnvironment } from './environment';
import { loadState, saveState, type HostState } from './hostState';
import { ensureN8n } from './install';
import { n8nCommand, nodeForN8n, PINNED, type Installation } from './installation';
import { HostError, withHeartbeat, type Say } from './messages';
import { N8nRestClient, N8nRestError } from './n8nRestClient';
import { installPackage, preparePackage } from './nodePackage';
import { ownDocuments, projectRoot, userFolderPaths } from './paths';
import { freePort, LOOPBACK } from './ports';
import { ServerProcess } from './serverProcess';
import { waitFor } from './waitFor';

export interface HostOptions {
	/** Holds n8n's data, its log and the documents; made when missing. */
	userFolder: string;
	/** The port of n8n; a free one is chosen when left out. */
	port?: number;
	/** Load the node from the project itself instead of from its tarball, for development. */
	link?: boolean;
	/** The folder for documents of one's own; that of the project when left out. */
	ownFolder?: string;
	/** Leave it to somebody else to install the node. */
	withoutNode?: boolean;
	/** Further environment variables for n8n. */
	env?: NodeJS.ProcessEnv;
	/** Which n8n; the pinned one when left out. */
	installation?: Installation;
	say?: Say;
}

/** A running n8n with the node in it, as whoever uses it sees it. */
export interface N8n {
	readonly url: string;
	/** The folder that workflows may read files from. */
	readonly documents: string;
	/** The folder for documents of one's own, which they may read as well. */
	readonly ownDocuments: string;
	readonly rest: N8nRestClient;
}

/** A running n8n with the node in it, in the hands of whoever started it. */
export interface Host extends N8n {
	readonly userFolder: string;
	readonly login: { email: string; password: string };
	/** False when the user has changed the password, so that `rest` has no session. */
	readonly loggedIn: boolean;
	stop(): Promise<void>;
	/** Ends n8n as a power cut would. */
	kill(): Promise<void>;
	/** Starts n8n again on the same port and data, after ending it in order if it still runs. */
	restart(): Promise<void>;
	/** Resolves when n8n has ended, whoever ended it; `restart` begins a new life. */
	whenEnded(): Promise<void>;
	logTail(lines?: number): string;
	readonly state: HostState;
	saveState(): void;
}

/**
 * Installs n8n and the node where needed, starts n8n on loopback and logs its owner in.
 *
 * @returns once n8n answers
 * @throws HostError with n8n's last words when it does not come up
 */
export async function startHost(options: HostOptions): Promise<Host> {
	const say = options.say ?? (() => undefined);
	const installation = options.installation ?? PINNED;
	await ensureN8n(say, installation);
	await preparePackage(say);
	const userFolder = resolve(options.userFolder);
	const state = loadState(userFolder);
	const documents = copyDocuments(userFolder);
	const own = linkOwnDocuments(userFolder, options.ownFolder);
	const port = options.port ?? (await freePort());
	const rest = new N8nRestClient(`http://${LOOPBACK}:${port}`);

	const boot = async (appendLog: boolean) => {
		if (!options.withoutNode) installPackage(userFolder, options.link);
		const env = n8nEnvironment({
			userFolder,
			port,
			brokerPort: await freePort(),
			encryptionKey: state.encryptionKey,
			readable: [documents, own],
			extra: options.env,
		});
		say('Starting n8n');
		return await bootN8n({ installation, userFolder, env, appendLog, say }, rest);
	};

	let server = await boot(false);
	return {
		url: rest.url,
		userFolder,
		documents,
		ownDocuments: own,
		login: state.login,
		rest,
		loggedIn: await openSession(rest, state.login, server),
		state,
		saveState: () => saveState(userFolder, state),
		stop: async () => await server.stop(),
		kill: async () => await server.kill(),
		restart: async () => {
			await server.stop();
			server = await boot(true);
		},
		whenEnded: async () => await server.whenEnded(),
		logTail: (lines) => server.logTail(lines),
	};
}

async function bootN8n(
	start: {
		installation: Installation;
		userFolder: string;
		env: NodeJS.ProcessEnv;
		appendLog: boolean;
		say: Say;
	},
	rest: N8nRestClient,
): Promise<ServerProcess> {
	const server = new ServerProcess({
		node: nodeForN8n(start.installation),
		args: [n8nCommand(start.installation), 'start'],
		cwd: start.userFolder,
		env: start.env,
		logFile: userFolderPaths(start.userFolder).log,
		appendLog: start.appendLog,
	});
	try {
		const ready = async () =>
			await waitFor('n8n to answer', async () => await readyOrEnded(server, rest));
		await withHeartbeat(start.say, (seconds) => startingLine(server.log, seconds), ready);
	} catch (error) {
		await server.kill();
		throw error;
	}
	return server;
}

async function readyOrEnded(server: ServerProcess, rest: N8nRestClient): Promise<true | undefined> {
	if (server.hasEnded) {
		throw new HostError(
			`n8n ended while starting. The last lines of its log:\n${server.logTail()}`,
		);
	}
	return (await rest.isReady()) ? true : undefined;
}

async function openSession(
	rest: N8nRestClient,
	login: HostState['login'],
	server: ServerProcess,
): Promise<boolean> {
	try {
		await rest.setUpOwner(login);
		return true;
	} catch (error) {
		if (!(error instanceof N8nRestError && error.status === 400)) {
			await server.kill();
			throw error;
		}
	}
	try {
		await rest.logIn(login);
		return true;
	} catch (error) {
		if (error instanceof N8nRestError && error.status === 401) return false;
		await server.kill();
		throw error;
	}
}

/**
 * Copies the documents of the examples, the handbook of a product that does not exist, into the user
 * folder. Workflows read them as `documents/**\/*`, since n8n runs inside the user folder.
 *
 * @returns the real path of the documents folder, which n8n has to be allowed to read
 */
function copyDocuments(userFolder: string): string {
	const target = userFolderPaths(userFolder).documents;
	cpSync(join(projectRoot, 'examples', 'documents'), target, { recursive: true });
	return realpathSync(target);
}

/**
 * Links the folder for documents of one's own into the user folder, so that workflows read it as `my-documents`.
 *
 * @returns its real path, which n8n has to be allowed to read
 */
function linkOwnDocuments(userFolder: string, folder = ownDocuments): string {
	mkdirSync(folder, { recursive: true });
	const link = userFolderPaths(userFolder).ownDocuments;
	rmSync(link, { force: true });
	symlinkSync(folder, link, 'junction');
	return realpathSync(folder);
}

/** n8n says so of each change that it makes to its database: some hundred on a first start. */
const DATABASE_CHANGED = /^Finished migration /gm;

/** How far a start of n8n has come, by what stands in its log. */
function startingLine(log: string, seconds: number): string {
	const changes = log.match(DATABASE_CHANGED)?.length ?? 0;
	const doing =
		changes === 0 ? 'n8n is loading' : `n8n sets its database up, ${changes} steps done`;
	return `  ${doing}, ${seconds} s`;
}
