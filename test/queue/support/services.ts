import { spawnSync, type ChildProcess } from 'node:child_process';
import { chownSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { runCommand } from '../../../host/command';
import { freePort, LOOPBACK } from '../../../host/ports';
import { waitFor } from '../../../host/waitFor';
import { endService, startService, withAccount } from './serviceProcess';

const POSTGRES_VERSIONS = '/usr/lib/postgresql';
const POSTGRES_ACCOUNT = 'postgres';

/** A server that is not n8n, with its data in a folder of its own; it ends with this process. */
export interface Service {
	port: number;
	stop(): Promise<void>;
}

/** Starts a Postgres on loopback whose user `n8n` needs no password. */
export async function startPostgres(folder: string): Promise<Service> {
	const binaries = join(POSTGRES_VERSIONS, newestPostgres(), 'bin');
	const data = join(folder, 'postgres');
	mkdirSync(data, { mode: 0o700 });
	const account = isRoot() ? POSTGRES_ACCOUNT : undefined;
	if (account) chownSync(data, idOf('-u', account), idOf('-g', account));
	const port = await freePort();
	const initialise = ['-D', data, '-U', 'n8n', '-A', 'trust', '--locale=C', '-E', 'UTF8', '-N'];
	await succeed(...withAccount(join(binaries, 'initdb'), initialise, account));
	const child = startService(
		folder,
		'postgres',
		...withAccount(
			join(binaries, 'postgres'),
			['-D', data, '-p', `${port}`, '-h', LOOPBACK, '-k', '', '-F'],
			account,
		),
	);
	const isReady = ['-h', LOOPBACK, '-p', `${port}`, '-q'];
	await untilReady(child, 'postgres', join(binaries, 'pg_isready'), isReady);
	return { port, stop: async () => await endService(child, 'SIGINT') };
}

/** Starts a Redis on loopback that keeps nothing. */
export async function startRedis(folder: string): Promise<Service> {
	const port = await freePort();
	const settings = ['--port', `${port}`, '--bind', LOOPBACK, '--save', '', '--dir', folder];
	const child = startService(folder, 'redis', ...withAccount('redis-server', settings));
	const ping = ['-h', LOOPBACK, '-p', `${port}`, '-e', 'ping'];
	await untilReady(child, 'redis', 'redis-cli', ping);
	return { port, stop: async () => await endService(child, 'SIGTERM') };
}

function newestPostgres(): string {
	const [newest] = readdirSync(POSTGRES_VERSIONS).sort((a, b) => Number(b) - Number(a));
	if (newest === undefined) throw new Error(`No Postgres in ${POSTGRES_VERSIONS}`);
	return newest;
}

function isRoot(): boolean {
	return process.getuid?.() === 0;
}

function idOf(which: '-u' | '-g', account: string): number {
	return Number(spawnSync('id', [which, account], { encoding: 'utf8' }).stdout);
}

async function succeed(command: string, args: string[]): Promise<void> {
	const { code, output } = await runCommand(command, args, { cwd: '/' });
	if (code !== 0) throw new Error(`${args.join(' ')} did not work:\n${output}`);
}

async function untilReady(
	child: ChildProcess,
	name: string,
	command: string,
	args: string[],
): Promise<void> {
	const ask = async () => {
		if (child.exitCode !== null) throw new Error(`${name} ended while starting`);
		return (await runCommand(command, args, { cwd: '/' })).code === 0 || undefined;
	};
	await waitFor(`${name} to answer`, ask);
}
