import { mkdirSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { requireSuccess, runCommand } from './command';
import { HostError, withHeartbeat, type Say } from './messages';
import { projectRoot, userFolderPaths } from './paths';
import { LOOPBACK } from './ports';
import { ServerProcess } from './serverProcess';
import type { SandboxAccess } from './setUp';
import { doOnce, hashFiles } from './stamp';
import { waitFor } from './waitFor';

export interface RunningSandbox extends SandboxAccess {
	server: ServerProcess;
}

/**
 * Compiles the sandbox if its sources have changed, and starts it on loopback.
 *
 * @returns once it accepts connections
 * @throws HostError when it does not compile or does not come up
 */
export async function startSandboxServer(
	options: { userFolder: string; port: number; token: string },
	say: Say,
): Promise<RunningSandbox> {
	await compileSandbox(say);
	say('Starting the sandbox');
	const { port, token } = options;
	const server = new ServerProcess({
		node: process.execPath,
		args: [
			join(projectRoot, 'sandbox', 'dist', 'main.js'),
			'--port',
			String(port),
			'--token',
			token,
		],
		cwd: projectRoot,
		env: process.env,
		logFile: userFolderPaths(options.userFolder).sandboxLog,
	});
	try {
		await waitFor('the sandbox to answer', async () => await listeningOrEnded(server, port));
	} catch (error) {
		await server.kill();
		throw error;
	}
	return { server, url: `http://${LOOPBACK}:${port}`, token };
}

async function compileSandbox(say: Say): Promise<void> {
	const config = join(projectRoot, 'sandbox', 'tsconfig.json');
	const compiler = join(projectRoot, 'node_modules', 'typescript', 'bin', 'tsc');
	const stamp = hashFiles(projectRoot, [join(projectRoot, 'sandbox')]);
	const output = join(projectRoot, 'sandbox', 'dist');
	mkdirSync(output, { recursive: true });
	await doOnce(join(output, '.compiled'), stamp, async () => {
		say('Compiling the sandbox');
		const result = await withHeartbeat(
			say,
			(seconds) => `  still compiling, ${seconds} s`,
			async () =>
				await runCommand(process.execPath, [compiler, '-p', config], { cwd: projectRoot }),
		);
		requireSuccess(result, 'Compiling the sandbox did not work');
	});
}

async function listeningOrEnded(server: ServerProcess, port: number): Promise<true | undefined> {
	if (server.hasEnded) {
		throw new HostError(
			`The sandbox ended while starting. The last lines of its log:\n${server.logTail()}`,
		);
	}
	return await new Promise((resolve) => {
		const socket = createConnection({ port, host: LOOPBACK });
		socket.once('connect', () => {
			socket.destroy();
			resolve(true);
		});
		socket.once('error', () => resolve(undefined));
	});
}
