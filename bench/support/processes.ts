import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** How a process is started. */
export interface ChildOptions {
	env?: NodeJS.ProcessEnv;
	/** Options of Node. */
	execArgv?: string[];
}

/**
 * Runs a module below `bench/` in a process of its own, hands it its task, and resolves with what it reports.
 * n8n's user folder, where binary data lies, is a temporary one.
 */
export async function runInChild<Result>(
	module: string,
	task: unknown,
	{ env = {}, execArgv = [] }: ChildOptions = {},
): Promise<Result> {
	const userFolder = mkdtempSync(path.join(tmpdir(), 'xpertai-bench-'));
	const child = fork(path.join(__dirname, '..', module), [], {
		execArgv,
		env: { ...process.env, N8N_USER_FOLDER: userFolder, ...env },
	});
	try {
		const answer = nextMessage<Result>(child);
		child.send(task as object);
		return await answer;
	} finally {
		await stop(child);
		rmSync(userFolder, { recursive: true, force: true });
	}
}

/** Ends a child and waits until it is gone. */
export async function stop(child: ChildProcess): Promise<void> {
	if (child.exitCode !== null || child.signalCode !== null) return;
	const gone = once(child, 'exit');
	child.kill();
	await gone;
}

/** The next message of a child; rejects when it ends without one. */
export async function nextMessage<Message>(child: ChildProcess): Promise<Message> {
	return await new Promise<Message>((resolve, reject) => {
		const ended = (code: number | null, signal: string | null) =>
			reject(new Error(`A benchmark process ended early (${signal ?? `code ${code}`})`));
		child.once('exit', ended);
		child.once('message', (message) => {
			child.off('exit', ended);
			resolve(message as Message);
		});
	});
}

/** In a child: takes the task, does it, and reports the result. */
export function serveTask<Task>(work: (task: Task) => Promise<object>): void {
	process.once('message', (task) => {
		work(task as Task).then(
			(result) => process.send?.(result),
			(error: unknown) => {
				console.error(error);
				process.exit(1);
			},
		);
	});
}
