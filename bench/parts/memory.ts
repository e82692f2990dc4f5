import path from 'node:path';

import type { MemoryMeasurement, MemoryTask } from '../children/memoryChild';
import { linePlot } from '../page/plots';
import { figure, judged, megabytes, table } from '../page/words';
import { curveOf, differences, numberIn, numbers, ratios } from '../run/figures';
import type { Entry, Figures, Part, PartResults, Section } from '../run/part';
import { runInChild } from '../support/processes';
import { startServer } from '../support/server';

const HEAP_LIMIT_MB = 128;

const AIMS = [
	{
		what: '1,000,000 records from a file: what a full collection leaves in the heap',
		against: '10,000 records',
		aim: '≤ 1.2 times',
	},
	{
		what: '1,000,000 records from a file with a heap of 128 MB',
		against: '–',
		aim: 'passes',
	},
	{
		what: '300,000 items with Output = Summary: heap a document',
		against: 'beyond the items themselves',
		aim: '< 1 KB',
	},
	{
		what: '300,000 items with Output = Summary and Process and Wait: heap a document',
		against: 'beyond the items themselves',
		aim: '< 1 KB',
	},
];

const NAMES = {
	small: 'the short file',
	large: 'the long file',
	items: 'items',
	processed: 'items, Process and Wait',
};

/** What memory a run needs, whatever it has to send. */
export const memoryPart: Part = {
	name: 'memory',
	title: 'Memory',
	aims: AIMS,
	plan: ({ quick }) => {
		const sizes = quick
			? { small: 2000, large: 20_000, items: 10_000 }
			: { small: 10_000, large: 1_000_000, items: 300_000 };
		const entry = (
			name: string,
			seconds: number,
			task: Omit<MemoryTask, 'target'>,
			execArgv: string[],
		): Entry => ({
			name,
			seconds,
			measure: async () => await measure(task, execArgv),
			say: (figures) =>
				`${figure(numberIn(figures, 'seconds'), 1)} s, at most ${megabytes(numberIn(figures, 'live'))} left by a full collection`,
		});
		const limit = `--max-old-space-size=${HEAP_LIMIT_MB}`;
		return {
			sizes,
			rounds: 1,
			entries: [
				entry(NAMES.small, 6, { kind: 'file', count: sizes.small, collectEveryMs: 100 }, [
					'--expose-gc',
					limit,
				]),
				entry(
					NAMES.large,
					5 + sizes.large / 14_000,
					{ kind: 'file', count: sizes.large, collectEveryMs: 5000 },
					['--expose-gc', limit],
				),
				entry(
					NAMES.items,
					8 + sizes.items / 12_000,
					{ kind: 'items', count: sizes.items, collectEveryMs: 1000 },
					['--expose-gc', '--max-old-space-size=4096'],
				),
				entry(
					NAMES.processed,
					8 + sizes.items / 12_000,
					{ kind: 'items', count: sizes.items, collectEveryMs: 1000, processed: true },
					['--expose-gc', '--max-old-space-size=4096'],
				),
			],
		};
	},
	report,
};

async function measure(work: Omit<MemoryTask, 'target'>, execArgv: string[]): Promise<Figures> {
	// The sandbox takes its time to process each document.
	const server = await startServer({ bare: work.processed });
	try {
		const module = path.join(__dirname, '..', 'children', 'memoryChild.js');
		const task: MemoryTask = { ...work, target: server.target };
		const measured = await runInChild<MemoryMeasurement>(module, task, {
			execArgv,
			env: { N8N_DEFAULT_BINARY_DATA_MODE: 'filesystem' },
		});
		const arrived = await server.ask('arrived');
		if (measured.stored !== work.count || arrived.documents < work.count)
			throw new Error(`Of ${work.count} documents, ${measured.stored} were stored`);
		return { ...measured };
	} finally {
		await server.stop();
	}
}

function report(results: PartResults): Section {
	const of = (name: string, figureName: string) => numbers(results, name, figureName);
	const { small = 0, large = 0, items = 0 } = results.sizes;
	const perItem = (name: string) =>
		differences(of(name, 'live'), of(name, 'atBeginning')).map((bytes) => bytes / items / 1024);
	const passed = results.entries[NAMES.large] !== undefined;
	const limit = AIMS[1];
	const row = (label: string, name: string) => {
		const text = (figureName: string) => megabytes(of(name, figureName)[0] ?? Number.NaN);
		return [label, text('rssBefore'), text('peakRss'), text('live')];
	};
	const [everyMs = 0] = of(NAMES.large, 'everyMs');
	return {
		aims: [
			judged(
				AIMS[0],
				ratios(of(NAMES.large, 'live'), of(NAMES.small, 'live')),
				(ratio) => ratio <= 1.2,
				{ unit: ' times' },
			),
			...(limit ? [{ ...limit, measured: passed ? 'passes' : 'does not pass', met: passed }] : []),
			judged(AIMS[2], perItem(NAMES.items), (kilobytes) => kilobytes < 1, { unit: ' KB' }),
			judged(AIMS[3], perItem(NAMES.processed), (kilobytes) => kilobytes < 1, { unit: ' KB' }),
		],
		plots: [
			{
				name: 'memory',
				alt: 'Resident memory over the time of the long file',
				svg: linePlot({
					title: `Resident memory, a file of ${figure(large)} records`,
					x: 'seconds',
					y: 'MB',
					lines: [
						{
							name: `Node with a heap of at most ${HEAP_LIMIT_MB} MB`,
							points: curveOf(results, NAMES.large, 'rss').map((bytes, index) => [
								(index * everyMs) / 1000,
								Math.round(bytes / 1024 / 1024),
							]),
						},
					],
				}),
			},
		],
		text: `
A file of records of about 200 bytes, one a line, lies in n8n's file-system binary data and goes through Document: Submit with Documents From = File of Records, After Storing = Nothing and Output = Summary, in a Node whose heap may hold ${HEAP_LIMIT_MB} MB (\`--max-old-space-size\`). Items of half a kilobyte go through it with Output = Summary, and once more with Process and Wait, to a server that has processed at once what it is asked to. _Left by a full collection_ is the most that any full garbage collection has left in the heap.

{{plot memory}}

${table(
	['', 'resident before', 'peak resident', 'left by a full collection'],
	[
		row(`${figure(small)} records`, NAMES.small),
		row(`${figure(large)} records`, NAMES.large),
		row(`${figure(items)} items`, NAMES.items),
		row(`${figure(items)} items, Process and Wait`, NAMES.processed),
	],
)}
`,
	};
}
