import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The name under which npm and n8n know this package. */
export const PACKAGE_NAME = 'n8n-nodes-xpertai';

/** The folder of the project: the nearest one above this file that holds `host/check-node.js`. */
export const projectRoot = findProjectRoot(__dirname);

/** Everything the host makes lives here; `n8n-node build` copies nothing out of it, for the leading dot. */
export const workFolder = join(projectRoot, '.host');

/** Where whoever tries the node in a clone puts documents of their own; git leaves them alone. */
export const ownDocuments = join(projectRoot, 'my-documents');

export const n8nFolder = join(workFolder, 'n8n');

/** Where Node keeps what it has compiled of n8n: the next start takes a tenth less. */
export const compileCache = join(workFolder, 'compile-cache');

/** Where the node is packed as a user gets it. */
export const packageFolder = join(workFolder, 'package');

/** The user folder of `npm start`; tests bring their own. */
export const defaultUserFolder = join(workFolder, 'home');

/** The files a user folder holds beside n8n's own `.n8n`. */
export function userFolderPaths(userFolder: string) {
	return {
		documents: join(userFolder, 'documents'),
		ownDocuments: join(userFolder, 'my-documents'),
		log: join(userFolder, 'n8n.log'),
		sandboxLog: join(userFolder, 'sandbox.log'),
		state: join(userFolder, 'host.json'),
		installedPackage: join(userFolder, '.n8n', 'nodes', 'node_modules', PACKAGE_NAME),
	};
}

function findProjectRoot(start: string): string {
	let folder = start;
	while (!existsSync(join(folder, 'host', 'check-node.js'))) {
		const parent = dirname(folder);
		if (parent === folder) throw new Error(`No project found above ${start}`);
		folder = parent;
	}
	return folder;
}
