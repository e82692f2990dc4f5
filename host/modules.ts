import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { partition } from 'lodash';
import { z } from 'zod';
import { requireSuccess, runNpm, type CommandResult } from './command';
import { DEFINITION, type Installation } from './installation';
import { withHeartbeat, type Say } from './messages';

/** What npm says when a tarball is not where most registries have it. */
const NOT_THERE = /npm (error|ERR!) (code )?(E40[0-9]|ETARGET)/;

/**
 * Has npm install an n8n as its lock file says.
 *
 * @throws HostError when npm fails
 */
export async function installModules(say: Say, { sources, folder }: Installation): Promise<void> {
	for (const name of DEFINITION) copyFileSync(join(sources, name), join(folder, name));
	say('Installing n8n 2 with npm (first use only: 430 MB to fetch, 2.9 GB on disk, some minutes)');
	const lockPath = join(folder, 'package-lock.json');
	const lockText = readFileSync(lockPath, 'utf8');
	const lock = parseLockFile(lockText);
	writeFileSync(lockPath, JSON.stringify(withTarballAddresses(lock, await npmRegistry(folder))));
	let result = await npmCi(folder, packageFolders(lock), say);
	if (NOT_THERE.test(result.output) && result.code !== 0) {
		say('This registry has tarballs elsewhere: npm asks it for each (some minutes longer)');
		writeFileSync(lockPath, lockText);
		result = await npmCi(folder, packageFolders(lock), say);
	}
	requireSuccess(result, 'Installing n8n with npm did not work');
}

async function npmCi(folder: string, packages: string[], say: Say): Promise<CommandResult> {
	const progress = new NpmProgress(folder, packages);
	const options = { cwd: folder, onOutput: progress.read };
	return await withHeartbeat(
		say,
		(seconds) => progress.line(seconds),
		async () => await runNpm(['ci', '--loglevel=http'], options),
	);
}

/**
 * The registry that npm uses in a folder.
 *
 * @throws HostError when npm does not say
 */
export async function npmRegistry(folder: string): Promise<string> {
	const args = ['config', 'get', 'registry', '--loglevel=error'];
	const result = await runNpm(args, { cwd: folder });
	requireSuccess(result, 'npm does not say which registry it uses');
	return result.output.trim();
}

/** npm says so, at the log level `http`, of every tarball that has arrived. */
const FETCHED = /http fetch GET 200 \S+\.tgz /g;

/** How far an `npm ci` has come, by what npm logs and by what lies in its folder. */
export class NpmProgress {
	private log = '';
	private lastDone = 0;

	/**
	 * @param folder that of the lock file
	 * @param packages the folders below it that packages are unpacked to
	 */
	constructor(
		private readonly folder: string,
		private readonly packages: string[],
	) {}

	readonly read = (text: string): void => {
		this.log += text;
	};

	/** A line of progress, which also says what npm waits for. It fetches nothing that it has from an earlier time. */
	line(seconds: number): string {
		const fetched = this.log.match(FETCHED)?.length ?? 0;
		const unpacked = this.packages.filter((path) => this.isUnpacked(path)).length;
		const all = this.packages.length;
		const done = fetched + unpacked;
		const isStill = done === this.lastDone;
		this.lastDone = done;
		if (done === 0) return `  npm looks through the list of ${all} packages, ${seconds} s`;
		const waitsFor = unpacked < all ? 'npm waits for a large package' : 'npm links the commands';
		const counts = `  ${fetched} fetched and ${unpacked} unpacked, of ${all} packages, ${seconds} s`;
		return isStill ? `${counts}: ${waitsFor}` : counts;
	}

	private isUnpacked(path: string): boolean {
		return existsSync(join(this.folder, path, 'package.json'));
	}
}

/** For which systems or processors a package is; a name after "!" says for which it is not. */
const machinesSchema = z.union([z.string(), z.array(z.string())]).optional();

const lockFileSchema = z
	.object({
		packages: z.record(
			z
				.object({
					name: z.string().optional(),
					version: z.string().optional(),
					resolved: z.string().optional(),
					integrity: z.string().optional(),
					os: machinesSchema,
					cpu: machinesSchema,
				})
				.passthrough(),
		),
	})
	.passthrough();

/** What npm writes to `package-lock.json`, as far as it matters here. */
export type LockFile = z.infer<typeof lockFileSchema>;

export function parseLockFile(text: string): LockFile {
	return lockFileSchema.parse(JSON.parse(text));
}

/**
 * Where the packages of a lock file are unpacked, below its folder; without those that npm leaves out on this machine.
 *
 * @param machine the names of its system and processor, as Node.js has them
 */
export function packageFolders(
	{ packages }: LockFile,
	machine: Pick<NodeJS.Process, 'platform' | 'arch'> = process,
): string[] {
	const entries = Object.entries(packages).filter(
		([path, { os, cpu }]) => path !== '' && isFor(machine.platform, os) && isFor(machine.arch, cpu),
	);
	return entries.map(([path]) => path);
}

function isFor(own: string, machines: z.infer<typeof machinesSchema> = []): boolean {
	const names = [machines].flat();
	const [without, only] = partition(names, (name) => name.startsWith('!'));
	return !without.includes(`!${own}`) && (only.length === 0 || only.includes(own));
}

/**
 * Says of every package of a lock file where its tarball is. A lock file that holds for any registry does not say so;
 * npm then reads all that was ever published of each package, 300 MB for an n8n, before it unpacks the first one.
 *
 * @param registry the address of the registry that npm uses; tarballs are where nearly all registries have them
 */
export function withTarballAddresses(lock: LockFile, registry: string): LockFile {
	const base = registry.replace(/\/*$/, '/');
	const packages = Object.entries(lock.packages).map(([path, entry]) => {
		const { name = nameOf(path), version, resolved, integrity } = entry;
		if (!version || !integrity || resolved) return [path, entry] as const;
		const file = `${name.replace(/^@[^/]+\//, '')}-${version}.tgz`;
		return [path, { ...entry, resolved: `${base}${name}/-/${file}` }] as const;
	});
	return { ...lock, packages: Object.fromEntries(packages) };
}

/** `node_modules/a/node_modules/@b/c` holds `@b/c`. */
function nameOf(path: string): string {
	return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
}
