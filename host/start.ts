import { resolve } from 'node:path';
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { endRunningCommands } from './command';
import { exampleFiles, readExample, sandboxValues } from './examples';
import { startHost, type Host } from './host';
import { loadState } from './hostState';
import { ensureN8n } from './install';
import { HostError, progressPrinter, reasonOf, type Say } from './messages';
import { preparePackage } from './nodePackage';
import { defaultUserFolder, ownDocuments, userFolderPaths } from './paths';
import { requireFreePort } from './ports';
import { serversRun, stopAllServers } from './serverProcess';
import { startSandboxServer } from './sandboxServer';
import { SANDBOX_CREDENTIAL, setUpWorkspace, type SandboxAccess } from './setUp';

interface StartOptions {
	port: number;
	sandboxPort: number;
	userFolder: string;
	link: boolean;
	help: boolean;
}

const USAGE = `npm start [-- flags]
  Runs a pinned n8n 2: n8n 3 comes as an image for Docker only, which npm cannot install.
  --port <number>          port of n8n (5678; environment: XPERTAI_N8N_PORT)
  --sandbox-port <number>  port of the sandbox (4318; environment: XPERTAI_SANDBOX_PORT)
  --user-folder <folder>   where n8n keeps its data (.host/home)
  --link                   load the node from this folder instead of from its tarball
  --help                   show this`;

/**
 * Reads the command line, then the environment, then the defaults.
 *
 * @throws HostError that names the flag and says what would be right
 */
function readOptions(args: string[], env: NodeJS.ProcessEnv): StartOptions {
	const { values } = parse(args, {
		port: { type: 'string', default: env.XPERTAI_N8N_PORT ?? '5678' },
		'sandbox-port': { type: 'string', default: env.XPERTAI_SANDBOX_PORT ?? '4318' },
		'user-folder': { type: 'string', default: defaultUserFolder },
		link: { type: 'boolean', default: false },
		help: { type: 'boolean', default: false },
	} as const);
	return {
		port: toPort('--port', values.port),
		sandboxPort: toPort('--sandbox-port', values['sandbox-port']),
		userFolder: resolve(values['user-folder']),
		link: values.link,
		help: values.help,
	};
}

function parse<Options extends ParseArgsConfig['options']>(args: string[], options: Options) {
	try {
		return parseArgs({ args, options });
	} catch (error) {
		throw new HostError(`${reasonOf(error)}\n${USAGE}`);
	}
}

function toPort(flag: string, text: string): number {
	const port = Number(text);
	if (!Number.isInteger(port) || port < 1 || port > 65_535) {
		throw new HostError(`${flag} takes a port number from 1 to 65535, not "${text}".`);
	}
	return port;
}

/** Resolves at the first Ctrl-C or request to end. */
const interrupted = new Promise<'interrupted'>((resolve) => {
	for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
		process.on(signal, () => resolve('interrupted'));
	}
});

async function start(options: StartOptions, say: Say): Promise<void> {
	await requireFreePort(options.port, 'n8n', '--port');
	await requireFreePort(options.sandboxPort, 'The sandbox', '--sandbox-port');
	await Promise.all([ensureN8n(say), preparePackage(say)]);
	const { sandboxToken } = loadState(options.userFolder);
	const sandbox = await startSandboxServer(
		{ userFolder: options.userFolder, port: options.sandboxPort, token: sandboxToken },
		say,
	);
	const host = await startHost({ ...options, say });
	if (host.loggedIn) await setUpWorkspace(host, sandbox, say);
	say(`Ready. ${welcome(host, sandbox)}\n`);
	await Promise.race([host.whenEnded(), sandbox.server.whenEnded()]);
	throw new HostError(
		`n8n or the sandbox has ended by itself. The last lines of n8n's log:\n${host.logTail()}`,
	);
}

async function main(): Promise<number> {
	const options = readOptions(process.argv.slice(2), process.env);
	if (options.help) {
		process.stdout.write(`${USAGE}\n`);
		return 0;
	}
	const say = progressPrinter();
	if ((await Promise.race([interrupted, start(options, say)])) === 'interrupted') {
		process.stdout.write('\n');
		say(
			serversRun() ? 'Ending n8n and the sandbox' : 'Ending; the next npm start goes on from here',
		);
	}
	return 0;
}

async function run(): Promise<void> {
	let code = 1;
	try {
		code = await main();
	} catch (error) {
		const text = error instanceof HostError ? error.message : `Unexpected: ${stackOf(error)}`;
		process.stderr.write(`\n${text}\n`);
	}
	endRunningCommands();
	await stopAllServers();
	process.exit(code);
}

function stackOf(error: unknown): string {
	return error instanceof Error ? (error.stack ?? error.message) : reasonOf(error);
}

/** What of a running n8n its user is told. */
type Welcomed = Pick<Host, 'url' | 'login' | 'loggedIn' | 'userFolder'> & {
	state: Pick<Host['state'], 'examples'>;
};

/** What `npm start` says at the end: the two clicks that show what the node does, and then all else. */
function welcome(host: Welcomed, sandbox: SandboxAccess): string {
	const [folder, question] = exampleFiles();
	const login = host.loggedIn
		? `${host.login.email}  /  ${host.login.password}`
		: 'your own (the password was changed, so nothing new was set up)';
	return [
		'Two clicks:',
		'',
		`  1. Open   ${addressOf(host, folder)}`,
		`     Login  ${login}`,
		'     Click "Execute workflow": the files of a handbook are uploaded, stored and processed.',
		`     Files of your own: put them into ${ownDocuments}`,
		'     and click again, also after you have changed or deleted some.',
		'',
		`  2. Open   ${addressOf(host, question)}`,
		'     Click "Open chat" and ask "How long does the warranty last?".',
		'',
		`  Sandbox   ${sandbox.url}  (token ${sandbox.token})`,
		'  A message that begins with ASK A PERSON waits for a person; the message BOOM alone fails.',
		`  Its knowledgebase, for workflows of your own: ${sandboxValues(host.url).knowledgebaseId}`,
		`  Log       ${userFolderPaths(host.userFolder).log}`,
		'  The list of workflows shows all examples in the order to open. For one of your own: "+",',
		`  search "Xpert AI", pick the credential "${SANDBOX_CREDENTIAL}". Ctrl-C ends everything.`,
	].join('\n');
}

/** Where an example is; by its name, where n8n has it no more or never had. */
function addressOf({ url, state }: Welcomed, fileName = ''): string {
	const id = state.examples[fileName];
	return id === undefined ? `${url}, "${readExample(fileName).name}"` : `${url}/workflow/${id}`;
}

void run();
