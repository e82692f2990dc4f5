import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import axios from 'axios';
import { stringify } from 'yaml';
import { z } from 'zod';

import { requireSuccess, runCommand, type CommandResult } from '../../../host/command';
import { nodeForN8n } from '../../../host/installation';
import { npmRegistry } from '../../../host/modules';
import { PACKAGE_NAME, projectRoot } from '../../../host/paths';
import { freePort, LOOPBACK } from '../../../host/ports';
import { ServerProcess } from '../../../host/serverProcess';
import { waitFor } from '../../../host/waitFor';
import { toolsFolder } from './tools';

const ACCOUNT = { name: 'author', password: 'author-of-the-node' };

/** A registry on loopback. It has this package itself, and passes on what others are asked for. */
export class Registry {
	private login: Promise<string> | undefined;

	private constructor(
		/** Ends with a slash, as npm writes the address of a registry. */
		readonly url: string,
		private readonly folder: string,
		private readonly server: ServerProcess,
	) {}

	/** Starts a registry whose data is in a folder, which is made. */
	static async start(folder: string): Promise<Registry> {
		mkdirSync(folder, { recursive: true });
		const port = await freePort();
		const config = join(folder, 'config.yaml');
		writeFileSync(config, stringify(settings(await npmRegistry(toolsFolder))));
		const server = new ServerProcess({
			node: nodeForN8n(),
			args: [
				join(toolsFolder, 'node_modules', 'verdaccio', 'bin', 'verdaccio'),
				...['--config', config, '--listen', `${LOOPBACK}:${port}`],
			],
			cwd: folder,
			env: process.env,
			logFile: join(folder, 'registry.log'),
		});
		const registry = new Registry(`http://${LOOPBACK}:${port}/`, folder, server);
		await waitFor('the registry to answer', async () => await registry.readyOrEnded());
		return registry;
	}

	/** What npm has to be told to use this registry, and none of the user's settings and copies. */
	get environment(): NodeJS.ProcessEnv {
		return {
			npm_config_registry: this.url,
			npm_config_userconfig: join(this.folder, 'npmrc'),
			npm_config_cache: join(this.folder, 'cache'),
		};
	}

	/** The token of an account, which is made when it is first asked for. */
	async token(): Promise<string> {
		this.login ??= logIn(this.url);
		return await this.login;
	}

	/** Publishes a tarball with the script that the workflow runs. */
	async tryToPublish(tarball: string, token?: string): Promise<CommandResult> {
		const env = { ...process.env, ...this.environment, NODE_AUTH_TOKEN: token };
		const script = join(projectRoot, 'scripts', 'publish.sh');
		return await runCommand('sh', [script, tarball], { cwd: this.folder, env });
	}

	async publish(tarball: string): Promise<void> {
		const result = await this.tryToPublish(tarball, await this.token());
		requireSuccess(result, 'Publishing did not work');
	}

	/** Which versions people get, by the word they ask for them with. */
	async versions(): Promise<Record<string, string>> {
		const { data } = await axios.get<unknown>(`${this.url}${PACKAGE_NAME}`, { proxy: false });
		return z.object({ 'dist-tags': z.record(z.string()) }).parse(data)['dist-tags'];
	}

	async stop(): Promise<void> {
		await this.server.stop();
	}

	private async readyOrEnded(): Promise<true | undefined> {
		if (this.server.hasEnded) throw new Error(`The registry ended:\n${this.server.logTail()}`);
		const ping = axios.get(`${this.url}-/ping`, { proxy: false });
		return await ping.then(() => true as const).catch(() => undefined);
	}
}

async function logIn(url: string): Promise<string> {
	const account = `${url}-/user/org.couchdb.user:${ACCOUNT.name}`;
	const { data } = await axios.put<unknown>(account, ACCOUNT, { proxy: false });
	return z.object({ token: z.string() }).parse(data).token;
}

function settings(uplink: string) {
	return {
		storage: './storage',
		auth: { htpasswd: { file: './accounts' } },
		uplinks: { user: { url: uplink } },
		packages: {
			[PACKAGE_NAME]: { access: '$all', publish: '$authenticated' },
			'**': { access: '$all', proxy: 'user' },
		},
		log: { type: 'stdout', format: 'json', level: 'http' },
	};
}
