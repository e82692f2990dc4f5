import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { freePort, LOOPBACK } from '../../../host/ports';
import { waitFor } from '../../../host/waitFor';
import { endService, startService, withAccount } from '../../queue/support/serviceProcess';

const COMMAND = process.env.NGINX_PATH ?? '/usr/sbin/nginx';

/** A real nginx in front of a server. */
export interface Nginx {
	url: string;
	/** Status of each request it has answered, in order. */
	statuses: () => number[];
	/** Breaks all connections and starts anew. */
	restart: () => Promise<void>;
	stop: () => Promise<void>;
}

/**
 * Starts an nginx on loopback, with its own defaults: bodies up to 1 MB.
 *
 * @param target URL of the server behind it
 * @param settings after how long it answers 504 for the server, 60 seconds by default
 */
export async function startNginx(target: string, { readTimeoutSeconds = 60 } = {}): Promise<Nginx> {
	const folder = mkdtempSync(join(tmpdir(), 'xpertai-nginx-'));
	const port = await freePort();
	writeFileSync(
		join(folder, 'nginx.conf'),
		configuration({ folder, port, target, readTimeoutSeconds }),
	);
	const start = async () => {
		const args = ['-c', join(folder, 'nginx.conf')];
		const child = startService(folder, 'nginx', ...withAccount(COMMAND, args));
		await waitFor('nginx to listen', async () => {
			if (child.exitCode !== null) throw new Error(readFileSync(join(folder, 'nginx.log'), 'utf8'));
			return await accepts(port);
		});
		return child;
	};
	let child = await start();
	const end = async () => await endService(child, 'SIGKILL');
	return {
		url: `http://${LOOPBACK}:${port}`,
		statuses: () => readFileSync(join(folder, 'access.log'), 'utf8').trim().split('\n').map(Number),
		restart: async () => {
			await end();
			child = await start();
		},
		stop: async () => {
			await end();
			rmSync(folder, { recursive: true });
		},
	};
}

interface Settings {
	folder: string;
	port: number;
	target: string;
	readTimeoutSeconds: number;
}

function configuration({ folder, port, target, readTimeoutSeconds }: Settings): string {
	const kept = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
		(name) => `${name}_temp_path ${folder}/${name};`,
	);
	return `
daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log;
events {}
http {
	log_format statuses $status;
	access_log ${folder}/access.log statuses;
	${kept.join(' ')}
	server {
		listen ${LOOPBACK}:${port};
		location / {
			proxy_pass ${target};
			proxy_read_timeout ${readTimeoutSeconds}s;
		}
	}
}
`;
}

async function accepts(port: number): Promise<true | undefined> {
	const socket = connect(port, LOOPBACK);
	try {
		await once(socket, 'connect');
		return true;
	} catch {
		return undefined;
	} finally {
		socket.destroy();
	}
}
