import { join } from 'node:path';
import { n8nFolder, projectRoot } from './paths';

/** An n8n that can be installed beside the project. */
export interface Installation {
	/** Holds the package.json, the lock file and the .npmrc that define it. */
	readonly sources: string;
	/** Where it is installed. */
	readonly folder: string;
	/** The major version of Node that it runs on. */
	readonly nodeMajor: number;
}

/** The n8n of `npm start` and of the end-to-end tests. */
export const PINNED: Installation = {
	sources: join(projectRoot, 'host'),
	folder: n8nFolder,
	nodeMajor: 24,
};

/** The script that is n8n's command line. */
export function n8nCommand({ folder }: Installation): string {
	return join(folder, 'node_modules', 'n8n', 'bin', 'n8n');
}
