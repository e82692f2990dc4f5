import { createRequire } from 'node:module';
import path from 'node:path';

import { serveTask } from '../support/processes';

/** The package to load. */
export interface LoadTask {
	packageFolder: string;
	nodes: string[];
}

/** In a process that has loaded nothing of it: its nodes and their descriptions, after what n8n has loaded anyway. */
serveTask<LoadTask>(async ({ packageFolder, nodes }) => {
	const load = createRequire(path.join(packageFolder, 'package.json'));
	for (const name of ['n8n-workflow', 'zod', 'luxon']) load(name);
	// Where n8n is installed there is one copy of lodash, and n8n-workflow has loaded most of it.
	for (const file of lodashFiles()) load(file);
	const cpuBefore = process.cpuUsage();
	const started = performance.now();
	for (const file of nodes) {
		const name = path.basename(file).replace('.node.js', '');
		const classes = load(path.join(packageFolder, file)) as Record<string, new () => unknown>;
		const Class = classes[name];
		if (!Class) throw new Error(`${file} has no ${name}`);
		const { description } = new Class() as { description?: object };
		if (!description) throw new Error(`${name} has no description`);
	}
	const { user, system } = process.cpuUsage(cpuBefore);
	return { seconds: (performance.now() - started) / 1000, cpuSeconds: (user + system) / 1e6 };
});

/** The files of lodash that are loaded by now, by their names. */
function lodashFiles(): string[] {
	return Object.keys(require.cache).flatMap((file) => {
		const [, name] = /node_modules[\\/]lodash[\\/](\w+)\.js$/.exec(file) ?? [];
		return name === undefined ? [] : [`lodash/${name}`];
	});
}
