import { join } from 'node:path';

import { projectRoot } from '../../../host/paths';

/** What loads n8n's modules, which `test/support/host/environment.ts` lends to tests; elsewhere it is `require`. */
declare const requireOfEngine: ((file: string) => unknown) | undefined;

/**
 * A module of the package as the engine has loaded it.
 *
 * @param file below `dist/`
 */
export function builtModule<Module>(file: string): Module {
	const load = typeof requireOfEngine === 'function' ? requireOfEngine : require;
	return load(join(projectRoot, 'dist', file)) as Module;
}
