import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { codeOf, HostError, lastLines } from './messages';

export interface CommandOptions {
	cwd: string;
	env?: NodeJS.ProcessEnv;
	onOutput?: (text: string) => void;
}

export interface CommandResult {
	code: number;
	output: string;
}

const running = new Set<ChildProcess>();

/**
 * Runs a command to its end and collects what it prints.
 *
 * @returns the exit code and everything printed, also when the code is not 0
 * @throws when the command cannot be started at all
 */
export async function runCommand(
	command: string,
	args: string[],
	{ onOutput, ...options }: CommandOptions,
): Promise<CommandResult> {
	return await new Promise((resolve, reject) => {
		const child = spawn(command, args, {
			...options,
			detached: process.platform !== 'win32',
			stdio: ['ignore', 'pipe', 'pipe'],
		});
		const chunks: Buffer[] = [];
		const collect = (chunk: Buffer) => {
			chunks.push(chunk);
			onOutput?.(chunk.toString('utf8'));
		};
		running.add(child);
		child.stdout.on('data', collect);
		child.stderr.on('data', collect);
		child.on('error', (error) => {
			running.delete(child);
			reject(error);
		});
		child.on('close', (code) => {
			running.delete(child);
			resolve({ code: code ?? 1, output: Buffer.concat(chunks).toString('utf8') });
		});
	});
}

/**
 * Runs npm with the Node that runs this process: by npm's own path inside `npm start`,
 * by name elsewhere. Throws when npm is not there.
 */
export async function runNpm(args: string[], options: CommandOptions): Promise<CommandResult> {
	const npmScript = process.env.npm_execpath;
	if (npmScript?.endsWith('.js')) {
		return await runCommand(process.execPath, [npmScript, ...args], options);
	}
	if (process.platform === 'win32') {
		return await runCommand('cmd.exe', ['/d', '/s', '/c', 'npm', ...args], options);
	}
	return await runCommand('npm', args, options);
}

/** Throws HostError with the complaint and the last lines of a command that ended badly. */
export function requireSuccess({ code, output }: CommandResult, complaint: string): void {
	if (code !== 0) throw new HostError(`${complaint}. Its last lines:\n${lastLines(output, 25)}`);
}

/**
 * Ends every command still running, for a Ctrl-C in the middle of an installation. By force: npm goes on
 * with a whole installation after a SIGTERM, and what is cut off here is done anew the next time.
 */
export function endRunningCommands(): void {
	for (const child of running) signalGroup(child, 'SIGKILL');
}

/**
 * Signals a child that was started `detached` together with everything it has started itself. A
 * group that is gone already is no matter. Windows knows no groups and no signals: there the whole
 * tree is ended by force.
 */
export function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
	if (pid === undefined) return;
	if (process.platform === 'win32') {
		spawnSync('taskkill', ['/pid', String(pid), '/T', '/F'], { stdio: 'ignore' });
		return;
	}
	try {
		process.kill(-pid, signal);
	} catch (error) {
		if (codeOf(error) !== 'ESRCH') throw error;
	}
}
