import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

import { requireSuccess, runCommand } from '../../../host/command';
import { packagedNodeFolder } from '../../../host/installation';
import { projectRoot } from '../../../host/paths';

/** The versions of Node on this machine, each with the folder that holds it. */
export function nodesHere(): Array<[string, string]> {
	const own = dirname(process.execPath);
	const packaged = join(packagedNodeFolder(), 'bin');
	const folders = existsSync(packaged) ? [own, packaged] : [own];
	return folders.map((folder) => [versionOf(folder), folder]);
}

/** The commands in the README between a heading in bold and the end of the first block of code after it. */
export function commandsInReadme(after: string): string {
	const text = readFileSync(join(projectRoot, 'README.md'), 'utf8');
	const [, rest] = text.split(`**${after}**`);
	const [, block] = /```bash\n([^`]*)```/.exec(rest ?? '') ?? [];
	if (block === undefined) throw new Error(`README.md has no commands after "${after}"`);
	return block;
}

/**
 * Types commands into a shell, with a home folder and a Node.
 *
 * @param nodeFolder holds the Node that npm shall run on
 * @param cwd the folder to be in; the home folder when left out
 */
export async function type(
	commands: string,
	home: string,
	nodeFolder: string,
	settings: NodeJS.ProcessEnv,
	cwd = home,
): Promise<string> {
	const PATH = [nodeFolder, process.env.PATH].join(delimiter);
	const env = { ...process.env, ...settings, HOME: home, PATH };
	const result = await runCommand('sh', ['-e', '-c', commands], { cwd, env });
	requireSuccess(result, `Not every command worked:\n${commands}`);
	return result.output;
}

export function packagesIn(folder: string): string[] {
	return readdirSync(join(folder, 'node_modules')).filter((name) => !name.startsWith('.'));
}

function versionOf(folder: string): string {
	const node = join(folder, 'node');
	return spawnSync(node, ['-p', 'process.versions.node'], { encoding: 'utf8' }).stdout.trim();
}
