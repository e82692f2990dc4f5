import { partition } from 'lodash';
import { z } from 'zod';

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

/** Reads a lock file. */
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
