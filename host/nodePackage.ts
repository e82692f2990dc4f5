import {
	cpSync,
	existsSync,
	mkdirSync,
	readdirSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { requireSuccess, runNpm } from './command';
import { BUILT_FROM, staleFile } from './freshBuild';
import { HostError, type Say } from './messages';
import { packageFolder, PACKAGE_NAME, projectRoot, userFolderPaths } from './paths';
import { doOnce, hashFiles } from './stamp';

const PACKED_FROM = [...BUILT_FROM, 'package.json', 'README.md', 'LICENSE', 'LICENSE.md'];
const stage = join(packageFolder, 'stage');

/**
 * Builds the node where that is not done yet and unpacks its tarball, unless the sources are those of the
 * last time. What lies in the stage afterwards is what a user gets from the registry.
 *
 * @throws HostError when the build or the packing fails
 */
export async function preparePackage(say: Say): Promise<void> {
	mkdirSync(packageFolder, { recursive: true });
	const stamp = hashFiles(
		projectRoot,
		PACKED_FROM.map((name) => join(projectRoot, name)),
	);
	await doOnce(join(packageFolder, '.prepared'), stamp, async () => {
		await buildIfStale(say);
		await packAndUnpack();
	});
}

/**
 * Builds the node, unless what is built is what the sources say.
 *
 * @throws HostError when the build fails
 */
export async function buildIfStale(say: Say): Promise<void> {
	if (staleFile(projectRoot) === undefined) return;
	say('Building the node');
	const result = await runNpm(['run', 'build'], { cwd: projectRoot });
	requireSuccess(result, 'Building the node did not work');
}

/**
 * Puts the prepared package where an n8n with this user folder finds it.
 *
 * @param userFolder the user folder of the n8n
 * @param link set a link to the project instead of a copy of the package, for development: after
 *   `npm run build` a restart of n8n is enough
 */
export function installPackage(userFolder: string, link = false): void {
	const target = userFolderPaths(userFolder).installedPackage;
	mkdirSync(dirname(target), { recursive: true });
	rmSync(target, { recursive: true, force: true });
	if (link) {
		symlinkSync(projectRoot, target, 'junction');
	} else {
		cpSync(join(stage, 'node_modules', PACKAGE_NAME), target, { recursive: true });
	}
}

async function packAndUnpack(): Promise<void> {
	rmSync(packageFolder, { recursive: true, force: true });
	mkdirSync(stage, { recursive: true });
	requireSuccess(
		await runNpm(['pack', '--ignore-scripts', '--pack-destination', packageFolder], {
			cwd: projectRoot,
		}),
		'Packing the node did not work',
	);
	const tarball = readdirSync(packageFolder).find((name) => name.endsWith('.tgz'));
	if (tarball === undefined) throw new HostError('npm pack made no tarball');
	writeFileSync(join(stage, 'package.json'), '{ "private": true }\n');
	requireSuccess(
		await runNpm(
			[
				'install',
				join(packageFolder, tarball),
				'--ignore-scripts',
				'--legacy-peer-deps',
				'--no-audit',
			],
			{ cwd: stage },
		),
		'Unpacking the node did not work',
	);
	if (!existsSync(join(stage, 'node_modules', PACKAGE_NAME, 'package.json'))) {
		throw new HostError(`The tarball ${tarball} does not hold the package ${PACKAGE_NAME}`);
	}
}
