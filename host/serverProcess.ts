import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { signalGroup } from './command';
import { lastLines } from './messages';
import { projectRoot } from './paths';

export interface ServerOptions {
	node: string;
	args: string[];
	cwd: string;
	env: NodeJS.ProcessEnv;
	logFile: string;
	appendLog?: boolean;
}

const GRACE_MS = 15_000;

const live = new Set<ServerProcess>();

export function serversRun(): boolean {
	return live.size > 0;
}

/** Ends every server still running, the youngest first, since later ones use earlier ones. */
export async function stopAllServers(): Promise<void> {
	for (const server of [...live].reverse()) await server.stop();
}

/**
 * A server in a process group of its own, so that a Ctrl-C in the terminal reaches the host alone
 * and the host ends the server together with the server's own children.
 */
export class ServerProcess {
	private readonly child: ChildProcess;

	private readonly ended: Promise<void>;

	/** Starts the server; it is not ready yet when the constructor returns. */
	constructor(private readonly options: ServerOptions) {
		mkdirSync(dirname(options.logFile), { recursive: true });
		const log = openSync(options.logFile, options.appendLog === true ? 'a' : 'w');
		const leash = join(projectRoot, 'host', 'leash.js');
		this.child = spawn(options.node, ['--require', leash, ...options.args], {
			cwd: options.cwd,
			env: options.env,
			detached: process.platform !== 'win32',
			windowsHide: true,
			stdio: ['ignore', log, log, 'ipc'],
		});
		closeSync(log);
		live.add(this);
		this.ended = new Promise<void>((resolve) => {
			this.child.once('exit', () => resolve());
			this.child.once('error', () => resolve());
		}).finally(() => live.delete(this));
	}

	get pid(): number | undefined {
		return this.child.pid;
	}

	get hasEnded(): boolean {
		return this.pid === undefined || this.child.exitCode !== null || this.child.signalCode !== null;
	}

	/** Resolves when the process is gone, whoever ended it. */
	async whenEnded(): Promise<void> {
		await this.ended;
	}

	/** Asks the server to finish, and kills it when it has not after 15 seconds. */
	async stop(): Promise<void> {
		if (!this.hasEnded) this.child.kill('SIGTERM');
		const timer = setTimeout(() => signalGroup(this.child, 'SIGKILL'), GRACE_MS);
		await this.ended;
		clearTimeout(timer);
		signalGroup(this.child, 'SIGKILL');
	}

	/** Kills the server and its children at once, as a crash or a power cut would. */
	async kill(): Promise<void> {
		signalGroup(this.child, 'SIGKILL');
		await this.ended;
	}

	get log(): string {
		return readFileSync(this.options.logFile, 'utf8');
	}

	logTail(lines = 20): string {
		return lastLines(this.log, lines);
	}
}
