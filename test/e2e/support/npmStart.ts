import { spawn, type ChildProcess } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readlinkSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

import { projectRoot } from '../../../host/paths';
import { waitFor } from '../../../host/waitFor';

/** What of the project `npm start` needs, besides what is installed. */
const COPIED = [
	'credentials',
	'host',
	'LICENSE',
	'nodes',
	'package.json',
	'README.md',
	'gulpfile.js',
	'tsconfig.json',
];

/** A project in which nothing has been started yet: `npm ci` was all. */
export function freshProject(folder: string): string {
	mkdirSync(folder, { recursive: true });
	for (const name of COPIED)
		cpSync(join(projectRoot, name), join(folder, name), { recursive: true });
	symlinkSync(join(projectRoot, 'node_modules'), join(folder, 'node_modules'));
	return folder;
}

/** `npm start` as a user sees it, without the compilation at its beginning. */
export class NpmStart {
	output = '';

	private readonly child: ChildProcess;

	private readonly ended: Promise<number | null>;

	constructor(project: string, flags: string[]) {
		this.child = spawn(process.execPath, [join('host', 'dist', 'start.js'), ...flags], {
			cwd: project,
			stdio: ['ignore', 'pipe', 'pipe'],
		});
		const read = (chunk: Buffer) => (this.output += chunk.toString('utf8'));
		this.child.stdout?.on('data', read);
		this.child.stderr?.on('data', read);
		this.ended = new Promise((resolve) => this.child.once('close', resolve));
	}

	async says(words: RegExp): Promise<void> {
		const ask = async () => {
			if (this.child.exitCode !== null) throw new Error(`It ended:\n${this.output}`);
			return words.test(this.output) || undefined;
		};
		await waitFor(`"${words.source}"`, ask);
	}

	/** Presses Ctrl-C and waits for the end. */
	async pressCtrlC(): Promise<number | null> {
		this.child.kill('SIGINT');
		return await this.end();
	}

	/** The exit code, once it has ended. */
	async end(): Promise<number | null> {
		return await this.ended;
	}
}

/** Waits until no process works in a folder or below it. */
export async function nothingRunsIn(folder: string): Promise<void> {
	const inThere = async () =>
		workingFolders().some((cwd) => cwd.startsWith(folder)) ? undefined : true;
	await waitFor(`all processes in ${folder} to end`, inThere);
}

function workingFolders(): string[] {
	const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
	return processes.flatMap((id) => {
		try {
			return [readlinkSync(`/proc/${id}/cwd`)];
		} catch {
			return []; // has ended meanwhile, or is somebody else's
		}
	});
}
