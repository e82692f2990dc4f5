import path from 'node:path';

import type { SkipMeasurement, SkipTask } from '../children/skipChild';
import { figure, judged, megabytes, table, withSpread } from '../page/words';
import { median, numberIn, numbers } from '../run/figures';
import type { Entry, Figures, Part, PartResults, Section } from '../run/part';
import { runInChild } from '../support/processes';
import { startServer } from '../support/server';

const DOCUMENT_BYTES = 512;

const AIMS = [
	{
		what: 'Skip Unchanged, 500,000 known: processor time an unchanged document',
		against: 'beyond making it of its item',
		aim: '< 10 µs',
	},
];

const nameOf = (documents: number) => `${figure(documents)} documents`;

/** What it costs to know what earlier runs have stored. */
export const rememberedPart: Part = {
	name: 'remembered',
	title: 'What is remembered',
	aims: AIMS,
	plan: ({ quick }) => {
		const most = quick ? 20_000 : 500_000;
		const entry = (documents: number): Entry => ({
			name: nameOf(documents),
			seconds: 2 + documents / 30_000,
			measure: async () => await measure(documents),
			say: (figures) => `${figure(micros(figures), 1)} µs an unchanged document`,
		});
		return {
			sizes: { most, middle: most / 5, least: most / 50 },
			rounds: 1,
			entries: [entry(most / 50), entry(most / 5), entry(most)],
		};
	},
	report,
};

const micros = (figures: Figures) =>
	(numberIn(figures, 'skippingCpu') * 1e6) / numberIn(figures, 'skipped');

async function measure(documents: number): Promise<Figures> {
	const server = await startServer({ keepContents: false });
	try {
		const module = path.join(__dirname, '..', 'children', 'skipChild.js');
		const task: SkipTask = { documents, documentBytes: DOCUMENT_BYTES, target: server.target };
		const measured = await runInChild<SkipMeasurement>(module, task, {
			execArgv: ['--max-old-space-size=4096'],
		});
		if (measured.skipped !== documents)
			throw new Error(`Of ${documents} documents, ${measured.skipped} count as unchanged`);
		return { ...measured };
	} finally {
		await server.stop();
	}
}

function report(results: PartResults): Section {
	const { most = 0, middle = 0, least = 0 } = results.sizes;
	const each = (results.entries[nameOf(most)] ?? []).map(micros);
	const seconds = (name: string, figureName: string) =>
		withSpread(numbers(results, name, figureName), 1);
	return {
		aims: [judged(AIMS[0], each, (time) => time < 10, { digits: 1, unit: ' µs' })],
		plots: [],
		text: `
What _Runs Again_ keeps in the knowledgebase ([keeping in step](keeping-in-step.md)): written as at the end of a run, and read as at the beginning of the next, with everything around it (encoding, checksum, three small requests when a run begins). Then all documents come once more, unchanged: what it takes to tell that and to leave them out, beyond making a document of ${DOCUMENT_BYTES} bytes of an item.

${table(
	['', 'size', 'written, s', 'read, s', 'µs an unchanged document'],
	[least, middle, most]
		.map(nameOf)
		.map((name) => [
			name,
			megabytes(median(numbers(results, name, 'bytes'))),
			seconds(name, 'writing'),
			seconds(name, 'reading'),
			withSpread((results.entries[name] ?? []).map(micros), 1),
		]),
)}

On a real server, a document of 16 MB alone was written in 1.9 s and read in 0.4 s; these notes are pieces of 64 KB. While documents are stored, only the page of a journal is written, of 16 KB at most.
`,
	};
}
