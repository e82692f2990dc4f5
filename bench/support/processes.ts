import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/**
 * Runs a file of the benchmark in a process of its own, hands it its task and resolves with its result. n8n's user
 * folder, where binary data is stored, is a temporary one.
 */
export async function runInChild<Result>(
	file: string,
	task: object,
	execArgv: string[] = [],
): Promise<Result> {
	const userFolder = mkdtempSync(path.join(tmpdir(), 'xpertai-bench-'));
	const n8n = { N8N_USER_FOLDER: userFolder, N8N_DEFAULT_BINARY_DATA_MODE: 'filesystem' };
	const child = fork(file, [], { execArgv, env: { ...process.env, ...n8n } });
	try {
		const answer = nextMessage<Result>(child);
		child.send(task);
		return await answer;
	} finally {
		await stop(child);
		rmSync(userFolder, { recursive: true, force: true });
	}
}

/** In the process of a child: does the task and reports the result. */
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
			reject(new Error(`A process of the benchmark ended early (${signal ?? `code ${code}`})`));
		child.once('exit', ended);
		child.once('message', (message) => {
			child.off('exit', ended);
			resolve(message as Message);
		});
	});
}

/** What a piece of work took of the time and of this process. */
export interface Cost {
	seconds: number;
	cpuSeconds: number;
}

export async function timed<Result>(
	work: () => Promise<Result>,
): Promise<Cost & { result: Result }> {
	const started = performance.now();
	const before = process.cpuUsage();
	const result = await work();
	const { user, system } = process.cpuUsage(before);
	return {
		result,
		seconds: (performance.now() - started) / 1000,
		cpuSeconds: (user + system) / 1e6,
	};
}
