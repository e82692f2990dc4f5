import type { MemoryMeasurement, MemoryTask } from '../children/memoryChild';
import { figure, megabytes, table } from '../page/words';
import { numberIn, numbers } from '../run/figures';
import type { Entry, Figures, Part, PartResults, Section } from '../run/part';
import { runInChild } from '../support/processes';
import { onServer } from '../support/server';

const HEAP_LIMIT_MB = 128;

const AIMS = [
	{
		what: '1,000,000 records from a file with a heap of 128 MB',
		against: '–',
		aim: 'passes',
	},
];

const NAMES = { small: 'the short file', large: 'the long file' };

/** What memory a run needs, whatever it has to send. */
export const memoryPart: Part = {
	name: 'memory',
	title: 'Memory',
	aims: AIMS,
	plan: ({ quick }) => {
		const sizes = quick ? { small: 2000, large: 20_000 } : { small: 10_000, large: 1_000_000 };
		const entry = (name: string, seconds: number, task: Omit<MemoryTask, 'target'>): Entry => ({
			name,
			seconds,
			measure: async () => await measure(task),
			say: (figures) =>
				`${figure(numberIn(figures, 'seconds'), 1)} s, at most ${megabytes(numberIn(figures, 'live'))} left by a full collection`,
		});
		return {
			sizes,
			rounds: 1,
			entries: [
				entry(NAMES.small, 6, { count: sizes.small, collectEveryMs: 100 }),
				entry(NAMES.large, 5 + sizes.large / 14_000, { count: sizes.large, collectEveryMs: 5000 }),
			],
		};
	},
	report,
};

async function measure(work: Omit<MemoryTask, 'target'>): Promise<Figures> {
	return await onServer({}, async (server) => {
		const task: MemoryTask = { ...work, target: server.target };
		const measured = await runInChild<MemoryMeasurement>('children/memoryChild.js', task, {
			execArgv: ['--expose-gc', `--max-old-space-size=${HEAP_LIMIT_MB}`],
			env: { N8N_DEFAULT_BINARY_DATA_MODE: 'filesystem' },
		});
		const arrived = await server.ask('arrived');
		if (measured.stored !== work.count || arrived.documents < work.count)
			throw new Error(`Of ${work.count} documents, ${measured.stored} were stored`);
		return { ...measured };
	});
}

function report(results: PartResults): Section {
	const of = (name: string, figureName: string) => numbers(results, name, figureName);
	const { small = 0, large = 0 } = results.sizes;
	const met = results.entries[NAMES.large] !== undefined;
	const measured = met ? 'passes' : 'does not pass';
	const row = (label: string, name: string) => {
		const text = (figureName: string) => megabytes(of(name, figureName)[0] ?? Number.NaN);
		return [label, text('rssBefore'), text('peakRss'), text('live')];
	};
	return {
		aims: AIMS.map((aim) => ({ ...aim, measured, met })),
		text: `
A file of records of about 200 bytes, one a line, lies in n8n's file-system binary data and goes through Document: Submit with Documents From = File of Records, After Storing = Nothing and Output = Summary, in a Node whose heap may hold ${HEAP_LIMIT_MB} MB (\`--max-old-space-size\`). _Left by a full collection_ is the most that any full garbage collection has left in the heap.

${table(
	['', 'resident before', 'peak resident', 'left by a full collection'],
	[row(`${figure(small)} records`, NAMES.small), row(`${figure(large)} records`, NAMES.large)],
)}
`,
	};
}
