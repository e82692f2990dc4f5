import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A command bound to this process's life, and to run as another account, which Postgres demands of root.
 */
export function withAccount(command: string, args: string[], account?: string): [string, string[]] {
	const become = account ? ['--reuid', account, '--regid', account, '--clear-groups'] : [];
	return ['setpriv', [...become, '--pdeathsig', 'SIGTERM', command, ...args]];
}

/** Starts a command; what it prints goes to a log in the folder, behind what is there. */
export function startService(
	folder: string,
	name: string,
	command: string,
	args: string[],
): ChildProcess {
	const log = openSync(join(folder, `${name}.log`), 'a');
	const child = spawn(command, args, { cwd: '/', stdio: ['ignore', log, log] });
	closeSync(log);
	return child;
}

/** Ends it, at the latest after ten seconds. */
export async function endService(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
	if (child.exitCode !== null || child.signalCode !== null) return;
	const ended = new Promise((resolve) => child.once('exit', resolve));
	child.kill(signal);
	const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
	await ended;
	clearTimeout(timer);
}
