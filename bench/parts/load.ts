import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { range } from 'lodash';
import { z } from 'zod';

import { requireSuccess, runNpm } from '../../host/command';
import { projectRoot } from '../../host/paths';
import { type Part, bounded, compared } from '../report';
import { runInChild, serveTask, timed } from '../support/processes';

/** The nodes of the package, relative to its folder. */
interface LoadTask {
	nodes: string[];
}

/** What n8n pays for the package before anybody uses it. */
export const loadPart: Part = {
	name: 'load',
	measure: async ({ quick }) => {
		const loaded: LoadTimes[] = [];
		for (const _ of range(quick ? 3 : 11)) loaded.push(await load());
		const what = 'time to load both nodes and their descriptions';
		const ours = loaded.map(({ nodes }) => nodes);
		const theirs = loaded.map(({ before }) => before);
		return [
			compared(what, ours, [`loading ${LOADED_ANYWAY.join(', ')}`, theirs], { most: MOST }),
			bounded('kilobytes of the tarball', [await tarballBytes()], { most: 200 }),
		];
	},
};

const packageSchema = z.object({ n8n: z.object({ nodes: z.array(z.string()) }) });

/** Seconds to load what n8n has loaded anyway, and then the nodes. */
interface LoadTimes {
	before: number;
	nodes: number;
}

const LOADED_ANYWAY = ['n8n-workflow', 'zod', 'luxon'];
const MOST = 0.3;

async function load(): Promise<LoadTimes> {
	const text = readFileSync(path.join(projectRoot, 'package.json'), 'utf8');
	const { nodes } = packageSchema.parse(JSON.parse(text)).n8n;
	const task: LoadTask = { nodes };
	return await runInChild<LoadTimes>(__filename, task);
}

const packSchema = z.array(z.object({ size: z.number() })).length(1);

async function tarballBytes(): Promise<number> {
	const parameters = ['pack', '--dry-run', '--json', '--ignore-scripts'];
	const result = await runNpm(parameters, { cwd: projectRoot });
	requireSuccess(result, 'Packing did not work');
	const [tarball] = packSchema.parse(JSON.parse(result.output.slice(result.output.indexOf('['))));
	return (tarball?.size ?? Number.NaN) / 1000;
}

/** In a process of its own: loads the nodes as n8n does, after what n8n has loaded anyway. */
async function loadInProcess({ nodes }: LoadTask): Promise<LoadTimes> {
	const requireThere = createRequire(path.join(projectRoot, 'package.json'));
	const before = await timed(async () => {
		for (const name of LOADED_ANYWAY) requireThere(name);
	});
	const after = await timed(async () => {
		for (const file of nodes) {
			const name = path.basename(file, '.node.js');
			const exported = requireThere(path.join(projectRoot, file)) as Record<string, NodeClass>;
			if (!exported[name] || !new exported[name]().description)
				throw new Error(`${file} has no description`);
		}
	});
	return { before: before.seconds, nodes: after.seconds };
}

type NodeClass = new () => { description?: object };

if (require.main === module) serveTask(loadInProcess);
