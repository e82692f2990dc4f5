import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { HostError } from './messages';
import { n8nFolder, projectRoot } from './paths';

/** The files that say what an installation consists of. */
export const DEFINITION = ['package.json', 'package-lock.json', '.npmrc'];

/** An n8n that can be installed beside the project. */
export interface Installation {
	/** Holds the package.json, the lock file and the .npmrc that define it. */
	readonly sources: string;
	readonly folder: string;
	readonly nodeMajor: number;
}

/** The n8n of `npm start` and of the end-to-end tests. */
export const PINNED: Installation = {
	sources: join(projectRoot, 'host'),
	folder: n8nFolder,
	nodeMajor: 24,
};

export function n8nCommand({ folder }: Installation): string {
	return join(folder, 'node_modules', 'n8n', 'bin', 'n8n');
}

/** The folder of the packaged Node binary for this platform, whether or not it is there. */
export function packagedNodeFolder({ folder }: Installation = PINNED): string {
	const platform = process.platform === 'win32' ? 'win' : process.platform;
	return join(folder, 'node_modules', `node-${platform}-${process.arch}`);
}

/** Whether the Node that runs this process is the one to run an n8n. */
export function ownNodeRunsN8n(installation: Installation = PINNED): boolean {
	const own = Number(process.versions.node.split('.')[0]);
	if (own === installation.nodeMajor) return true;
	return own > installation.nodeMajor && !existsSync(packagedNode(installation));
}

/**
 * The Node binary that runs an n8n: this process's own where it is of the right version, else the one
 * that came with the installation; a newer one of our own where none came.
 *
 * @throws HostError when this platform has neither
 */
export function nodeForN8n(installation: Installation = PINNED): string {
	if (ownNodeRunsN8n(installation)) return process.execPath;
	const binary = packagedNode(installation);
	if (existsSync(binary)) return binary;
	const { nodeMajor } = installation;
	throw new HostError(
		`n8n needs Node ${nodeMajor}; this is Node ${process.versions.node}, and there is no packaged ` +
			`Node ${nodeMajor} for ${process.platform} on ${process.arch}.\n` +
			`Install Node ${nodeMajor}, open a new terminal and run npm start again.`,
	);
}

function packagedNode(installation: Installation): string {
	const name = process.platform === 'win32' ? 'node.exe' : 'node';
	return join(packagedNodeFolder(installation), 'bin', name);
}
