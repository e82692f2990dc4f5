import { endRunningCommands } from './command';
import { startHost } from './host';
import { loadState } from './hostState';
import { ensureN8n } from './install';
import { HostError, progressPrinter, reasonOf, type Say } from './messages';
import { preparePackage } from './nodePackage';
import { readOptions, USAGE, type StartOptions } from './options';
import { requireFreePort } from './ports';
import { serversRun, stopAllServers } from './serverProcess';
import { startSandboxServer } from './sandboxServer';
import { setUpWorkspace } from './setUp';
import { welcome } from './welcome';

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

void run();
