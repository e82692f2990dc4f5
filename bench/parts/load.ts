import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';

import { requireSuccess, runNpm } from '../../host/command';
import { projectRoot } from '../../host/paths';
import type { LoadTask } from '../children/loadChild';
import { figure, judged, table, withSpread } from '../page/words';
import { numberIn, numbers } from '../run/figures';
import type { Entry, Figures, Part, PartResults, Section } from '../run/part';
import { runInChild } from '../support/processes';

const AIMS = [
	{
		what: 'load: require and description',
		against: 'beyond n8n-workflow and zod',
		aim: '< 40 ms',
	},
	{ what: 'the tarball', against: '–', aim: '< 150 kB' },
];

const NAMES = { load: 'load', tarball: 'tarball' };
const ROUNDS = 11;

/** What n8n pays for the package before anybody uses it. */
export const loadPart: Part = {
	name: 'load',
	title: 'Loading',
	aims: AIMS,
	plan: ({ quick }) => {
		const load: Entry = {
			name: NAMES.load,
			seconds: 1,
			measure: loadNodes,
			say: (figures) => `${figure(numberIn(figures, 'seconds') * 1000)} ms`,
		};
		const tarball: Entry = {
			name: NAMES.tarball,
			seconds: 3,
			rounds: 1,
			measure: packed,
			say: (figures) => `${figure(numberIn(figures, 'bytes') / 1000)} kB`,
		};
		return { sizes: {}, rounds: quick ? 5 : ROUNDS, entries: [load, tarball], together: true };
	},
	report,
};

const packageSchema = z.object({ n8n: z.object({ nodes: z.array(z.string()) }) });

async function loadNodes(): Promise<Figures> {
	const text = readFileSync(path.join(projectRoot, 'package.json'), 'utf8');
	const { nodes } = packageSchema.parse(JSON.parse(text)).n8n;
	const task: LoadTask = { packageFolder: projectRoot, nodes };
	return await runInChild('children/loadChild.js', task);
}

const packSchema = z.array(z.object({ size: z.number(), entryCount: z.number() })).length(1);

async function packed(): Promise<Figures> {
	const result = await runNpm(['pack', '--dry-run', '--json', '--ignore-scripts'], {
		cwd: projectRoot,
	});
	requireSuccess(result, 'Packing did not work');
	const [tarball] = packSchema.parse(JSON.parse(result.output.slice(result.output.indexOf('['))));
	return { bytes: tarball?.size ?? Number.NaN, files: tarball?.entryCount ?? Number.NaN };
}

function report(results: PartResults): Section {
	const ms = numbers(results, NAMES.load, 'seconds').map((seconds) => seconds * 1000);
	const cpu = numbers(results, NAMES.load, 'cpuSeconds').map((seconds) => seconds * 1000);
	const kilobytes = numbers(results, NAMES.tarball, 'bytes').map((bytes) => bytes / 1000);
	return {
		aims: [
			judged(AIMS[0], ms, (time) => time < 40, { digits: 0, unit: ' ms' }),
			judged(AIMS[1], kilobytes, (size) => size < 150, { digits: 0, unit: ' kB' }),
		],
		text: `
Both nodes of the package, required and made, in ${ms.length} fresh processes that have loaded n8n-workflow, zod and luxon before, and of lodash what n8n-workflow loads, as n8n has.

${table(
	['', 'ms'],
	[
		['time', withSpread(ms, 0)],
		['processor time', withSpread(cpu, 0)],
	],
)}
`,
	};
}
