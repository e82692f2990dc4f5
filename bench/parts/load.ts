import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { range } from 'lodash';
import { z } from 'zod';

import { requireSuccess, runNpm } from '../../host/command';
import { projectRoot } from '../../host/paths';
import { type Part, bounded } from '../report';
import { runInChild, serveTask, timed } from '../support/processes';

/** The nodes of the package, relative to its folder. */
interface LoadTask {
	nodes: string[];
}

/** What n8n pays for the package before anybody uses it. */
export const loadPart: Part = {
	name: 'load',
	measure: async ({ quick }) => {
		const milliseconds: number[] = [];
		for (const _ of range(quick ? 3 : 11)) milliseconds.push(await loadMs());
		return [
			bounded('both nodes: require and description', milliseconds, { most: 40 }, { unit: ' ms' }),
			bounded('the tarball', [await tarballBytes()], { most: 150 }, { unit: ' kB' }),
		];
	},
};

const packageSchema = z.object({ n8n: z.object({ nodes: z.array(z.string()) }) });

async function loadMs(): Promise<number> {
	const text = readFileSync(path.join(projectRoot, 'package.json'), 'utf8');
	const { nodes } = packageSchema.parse(JSON.parse(text)).n8n;
	const task: LoadTask = { nodes };
	const { seconds } = await runInChild<{ seconds: number }>(__filename, task);
	return seconds * 1000;
}

const packSchema = z.array(z.object({ size: z.number() })).length(1);

async function tarballBytes(): Promise<number> {
	const parameters = ['pack', '--dry-run', '--json', '--ignore-scripts'];
	const result = await runNpm(parameters, { cwd: projectRoot });
	requireSuccess(result, 'Packing did not work');
	const [tarball] = packSchema.parse(JSON.parse(result.output.slice(result.output.indexOf('['))));
	return (tarball?.size ?? Number.NaN) / 1000;
}

/** Loads the nodes as n8n does, after what n8n has loaded anyway. */
async function load({ nodes }: LoadTask) {
	const requireThere = createRequire(path.join(projectRoot, 'package.json'));
	for (const name of ['n8n-workflow', 'zod', 'luxon']) requireThere(name);
	return await timed(async () => {
		for (const file of nodes) {
			const name = path.basename(file, '.node.js');
			const exported = requireThere(path.join(projectRoot, file)) as Record<string, NodeClass>;
			if (!exported[name] || !new exported[name]().description)
				throw new Error(`${file} has no description`);
		}
	});
}

type NodeClass = new () => { description?: object };

if (require.main === module) serveTask(load);
