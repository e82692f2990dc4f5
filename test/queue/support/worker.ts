import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { n8nEnvironment } from '../../../host/environment';
import type { Host } from '../../../host/host';
import { n8nCommand, nodeForN8n, PINNED } from '../../../host/installation';
import { installPackage } from '../../../host/nodePackage';
import { userFolderPaths } from '../../../host/paths';
import { freePort } from '../../../host/ports';
import { ServerProcess } from '../../../host/serverProcess';
import { waitFor } from '../../../host/waitFor';

/** How many executions a worker takes at a time: one for a round of shards, two for shards. */
const AT_ONCE = 3;

const READY = 'n8n worker is now ready';
const STARTED = /Worker started execution (\d+) /g;

/** A worker of n8n's queue mode, with a user folder and an installed package of its own. */
export class Worker {
	private constructor(
		readonly name: string,
		private readonly process: ServerProcess,
		private readonly logFile: string,
	) {}

	/**
	 * Starts a worker beside a main n8n, whose documents it can read.
	 *
	 * @param folder an existing folder, in which the worker makes its user folder
	 * @param settings the variables of queue mode, the same as the main n8n's
	 */
	static async start(
		name: string,
		main: Host,
		folder: string,
		settings: NodeJS.ProcessEnv,
	): Promise<Worker> {
		const userFolder = join(folder, name);
		installPackage(userFolder);
		const env = n8nEnvironment({
			userFolder,
			port: await freePort(),
			brokerPort: await freePort(),
			encryptionKey: main.state.encryptionKey,
			readable: [main.documents],
			extra: settings,
		});
		const logFile = userFolderPaths(userFolder).log;
		const process = new ServerProcess({
			node: nodeForN8n(),
			args: [n8nCommand(PINNED), 'worker', `--concurrency=${AT_ONCE}`],
			cwd: main.userFolder,
			env,
			logFile,
		});
		const worker = new Worker(name, process, logFile);
		await waitFor(`${name} to be ready`, async () => worker.readyOrEnded());
		return worker;
	}

	/** The ids of the executions it has begun, as its log tells. */
	get executions(): string[] {
		return [...this.log.matchAll(STARTED)].map(([, id]) => String(id));
	}

	/** Whether it has not ended, or been killed. */
	get runs(): boolean {
		return !this.process.hasEnded;
	}

	async stop(): Promise<void> {
		await this.process.stop();
	}

	/** Ends it as a power cut would. */
	async kill(): Promise<void> {
		await this.process.kill();
	}

	private get log(): string {
		return readFileSync(this.logFile, 'utf8');
	}

	private readyOrEnded(): true | undefined {
		if (this.process.hasEnded) {
			throw new Error(`${this.name} ended while starting:\n${this.process.logTail()}`);
		}
		return this.log.includes(READY) || undefined;
	}
}
