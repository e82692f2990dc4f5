import { existsSync } from 'node:fs';
import path from 'node:path';

/** The folder of the package, found from the sources as well as from what is compiled of them. */
export const PROJECT_ROOT = findProjectRoot(__dirname);

/** n8n's own nodes, which are there once the pinned n8n was installed. */
export const NODES_BASE = path.join(PROJECT_ROOT, '.host/n8n/node_modules/n8n-nodes-base');

function findProjectRoot(start: string): string {
	let folder = start;
	while (!existsSync(path.join(folder, 'package.json'))) {
		const parent = path.dirname(folder);
		if (parent === folder) throw new Error(`No package.json above ${start}`);
		folder = parent;
	}
	return folder;
}
