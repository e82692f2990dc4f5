import path from 'node:path';

import type { NightMeasurement, NightTask } from '../children/nightChild';
import { figure, judged, table, withSpread } from '../page/words';
import { numberIn, numbers, ratios } from '../run/figures';
import type { Figures, Part, PartResults, Section } from '../run/part';
import { runInChild } from '../support/processes';
import { startServer } from '../support/server';

const DOCUMENT_BYTES = 1024;
const DISTANCE = { roundTripMs: 30, documentMs: 12, uploadMs: 20 };
/** One in so many is gone, one has changed, and one is new. */
const ONE_IN = 100;

const AIMS = [
	{
		what: 'a dry run, 1 % of the documents changed: what it stores on the server',
		against: 'the run that it shows',
		aim: '0',
	},
	{
		what: 'a dry run, 1 % of the documents changed: time',
		against: 'the run that it shows',
		aim: '≤ 1 times',
	},
];

const NIGHT = 'Only Show What Would Happen, and then the run';

/** What it takes to show what a run would do. */
export const dryRunPart: Part = {
	name: 'dryRun',
	title: 'A run before it happens',
	aims: AIMS,
	plan: ({ quick }) => {
		const documents = quick ? 300 : 500;
		return {
			sizes: { documents },
			rounds: quick ? 1 : 7,
			entries: [
				{
					name: NIGHT,
					seconds: 8 + documents / 200,
					measure: async () => await measure(documents),
					say: (figures) => `shown after ${figure(numberIn(figures, 'lookSeconds'), 1)} s`,
				},
			],
		};
	},
	report,
};

async function measure(documents: number): Promise<Figures> {
	const server = await startServer({ distance: DISTANCE });
	const each = documents / ONE_IN;
	const night = async (changes: Pick<NightTask, 'each' | 'dryRun'>) => {
		const task = { target: server.target, documents, documentBytes: DOCUMENT_BYTES, ...changes };
		const before = await server.ask('arrived');
		const module = path.join(__dirname, '..', 'children', 'nightChild.js');
		const measured = await runInChild<NightMeasurement>(module, task, { env: server.env });
		const { requests } = await server.ask('arrived');
		return { ...measured, stores: requests - before.requests };
	};
	try {
		await night({ each: 0, dryRun: false });
		const look = await night({ each, dryRun: true });
		const run = await night({ each, dryRun: false });
		check(documents, look.items, run.items);
		return {
			lookSeconds: look.seconds,
			lookCpu: look.cpuSeconds,
			lookStores: look.stores,
			runSeconds: run.seconds,
			runCpu: run.cpuSeconds,
			runStores: run.stores,
		};
	} finally {
		await server.stop();
	}
}

/** Figures of a plan that is not kept to say nothing. */
function check(documents: number, planned: Record<string, number>, done: typeof planned): void {
	const each = documents / ONE_IN;
	const plan = { changed: each, unchanged: documents - 2 * each, new: each, gone: each };
	const outcome = { stored: 2 * each, unchanged: documents - 2 * each, disabled: each };
	for (const [wanted, got] of [
		[plan, planned],
		[outcome, done],
	] as const)
		for (const [word, count] of Object.entries(wanted))
			if (got[word] !== count) throw new Error(`${word}: ${got[word] ?? 0} instead of ${count}`);
}

function report(results: PartResults): Section {
	const of = (name: string) => numbers(results, NIGHT, name);
	const { documents = 0 } = results.sizes;
	const row = (name: string, which: string) => [
		name,
		withSpread(of(`${which}Seconds`), 1),
		withSpread(of(`${which}Cpu`), 1),
		withSpread(of(`${which}Stores`), 0),
	];
	return {
		aims: [
			judged(AIMS[0], of('lookStores'), (stores) => stores === 0, { digits: 0 }),
			judged(AIMS[1], ratios(of('lookSeconds'), of('runSeconds')), (times) => times <= 1, {
				digits: 2,
				unit: ' times',
			}),
		],
		plots: [],
		text: `
${figure(documents)} documents of 1 KB are known of a source (Runs Again = Equal the Source), on the slow server from above. Then 1 % of them are gone, 1 % have changed and 1 % are new. _Only Show What Would Happen_ tells which; the run after it does it, and the measurement ends with an error if it does anything else.

${table(
	['', 'seconds', 'processor time, s', 'requests that store'],
	[row('shown', 'look'), row('done', 'run')],
)}
`,
	};
}
