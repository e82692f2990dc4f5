import { join } from 'node:path';

import { projectRoot } from '../../../host/paths';

/** Of the modules' loader that `test/support/host/environment.js` lends to tests. */
declare const requireOfHost: ((file: string) => unknown) | undefined;

/**
 * A module of the package as the engine has loaded it.
 *
 * @param file below `dist/`
 */
export function builtModule<Module>(file: string): Module {
	const built = join(projectRoot, 'dist', file);
	const byHost = typeof requireOfHost === 'function' ? requireOfHost : jest.requireActual;
	return byHost(built) as Module;
}
