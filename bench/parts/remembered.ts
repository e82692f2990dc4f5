import path from 'node:path';

import type { SkipMeasurement, SkipTask } from '../children/skipChild';
import type { SourceMeasurement, SourceTask } from '../children/sourceChild';
import { figure, judged, megabytes, table, withSpread } from '../page/words';
import { median, numberIn, numbers, ratios } from '../run/figures';
import type { Entry, Figures, Part, PartResults, Section } from '../run/part';
import { runInChild } from '../support/processes';
import { startServer } from '../support/server';

const DOCUMENT_BYTES = 512;

/** One in so many has changed. */
const CHANGED_IN = 100;

const AIMS = [
	{
		what: 'Send What Is New or Changed, 500,000 known: processor time an unchanged document',
		against: 'beyond making it of its item',
		aim: '< 10 µs',
	},
	{
		what: 'Send What Is New or Changed, a first load of 10,000, 100,000 and 500,000: bytes of notes',
		against: 'bytes of the documents, 1 KB each',
		aim: '≤ 10 %',
	},
	{
		what: 'Send What Is New or Changed, a first load of 10,000, 100,000 and 500,000: time',
		against: 'the same without remembering',
		aim: '≤ 1.5 times',
	},
	{
		what: 'Send What Is New or Changed, an unchanged night of 10,000, 100,000 and 500,000: bytes of notes',
		against: '–',
		aim: '≤ 1.3 KB',
	},
	{
		what: 'Send What Is New or Changed, a night of 500,000 with 1 % changed: bytes of notes',
		against: '–',
		aim: '< 1.5 MB',
	},
];

/** The nights of a source, one after another. */
const NIGHTS: Record<string, Pick<SourceTask, 'remembers' | 'changedIn'>> = {
	plain: { remembers: false },
	first: { remembers: true },
	unchanged: { remembers: true },
	changed: { remembers: true, changedIn: CHANGED_IN },
};

const NIGHT_WORDS: Record<string, string> = {
	plain: 'without remembering',
	first: 'first load',
	unchanged: 'unchanged night',
	changed: '1 % changed',
};

const nightsOf = (documents: number) => `nights of ${figure(documents)} documents`;

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
			entries: [most / 50, most / 5, most].flatMap((documents) => [
				entry(documents),
				nightsEntry(documents),
			]),
		};
	},
	report,
};

const nightsEntry = (documents: number): Entry => ({
	name: nightsOf(documents),
	seconds: 10 + documents / 3500,
	measure: async () => await measureNights(documents),
	say: (figures) =>
		`${figure(numberIn(figures, 'unchangedNoteBytes'))} bytes of notes in an unchanged night`,
});

async function measureNights(documents: number): Promise<Figures> {
	const server = await startServer({ bare: true });
	const module = path.join(__dirname, '..', 'children', 'sourceChild.js');
	const figures: Record<string, number> = {};
	try {
		for (const [name, night] of Object.entries(NIGHTS)) {
			await server.ask('clear');
			const task: SourceTask = { target: server.target, documents, ...night };
			const { seconds, cpuSeconds, found, unchanged } = await runInChild<SourceMeasurement>(
				module,
				task,
				{ env: { N8N_DEFAULT_BINARY_DATA_MODE: 'filesystem' } },
			);
			if (found + unchanged !== documents)
				throw new Error(`Of ${documents}, ${found} can be found and ${unchanged} are unchanged`);
			const { bytes, noteBytes, asked } = await server.ask('arrived');
			const measured = { Seconds: seconds, Cpu: cpuSeconds, Bytes: bytes, NoteBytes: noteBytes };
			for (const [word, value] of Object.entries({ ...measured, Asked: asked }))
				figures[name + word] = value;
		}
		return figures;
	} finally {
		await server.stop();
	}
}

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
	const sizes = [least, middle, most];
	const night = (documents: number, one: string, other?: string) => {
		const values = numbers(results, nightsOf(documents), one);
		if (other === undefined) return values;
		return ratios(values, numbers(results, nightsOf(documents), other));
	};
	/** The worst of all sizes. */
	const worst = (one: string, other?: string) => {
		const all = sizes.map((documents) => night(documents, one, other));
		return all.every((values) => values.length > 0)
			? [Math.max(...all.map((values) => values[0] ?? Number.NaN))]
			: [];
	};
	const percent = worst('firstNoteBytes', 'plainBytes').map((share) => share * 100);
	const changed = night(most, 'changedNoteBytes').map((bytes) => bytes / 1e6);
	return {
		aims: [
			judged(AIMS[0], each, (time) => time < 10, { digits: 1, unit: ' µs' }),
			judged(AIMS[1], percent, (share) => share <= 10, { digits: 0, unit: ' %' }),
			judged(AIMS[2], worst('firstSeconds', 'plainSeconds'), (times) => times <= 1.5, {
				unit: ' times',
			}),
			judged(AIMS[3], worst('unchangedNoteBytes'), (bytes) => bytes <= 1300, { digits: 0 }),
			judged(AIMS[4], changed, (bytes) => bytes < 1.5, { unit: ' MB' }),
		],
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

### A first load, and the nights after it

Documents of 1 KB, records of a file in n8n's file-system binary data, with Runs Again = Send What Is New or Changed, everything else as it is by default (so with _Process and Wait_), and Output = Summary, on a server that costs nothing; beside the same without remembering. What is noted is counted on the server. Of the aims, the worst of the three sizes counts.

${table(
	['', 'night', 'bytes of documents', 'bytes of notes', 'requests', 'time', 'processor time'],
	sizes.flatMap((documents) =>
		Object.keys(NIGHTS).map((name) => {
			const count = (word: string) => withSpread(night(documents, name + word), 0);
			const against = (word: string) =>
				withSpread(night(documents, name + word, `plain${word}`), 2, ' times');
			return [
				nameOf(documents),
				NIGHT_WORDS[name] ?? name,
				count('Bytes'),
				count('NoteBytes'),
				count('Asked'),
				against('Seconds'),
				against('Cpu'),
			];
		}),
	),
)}

On a real server, a document of 16 MB alone was written in 1.9 s and read in 0.4 s; these notes are pieces of 61 KB. While documents are stored, a page of a journal goes with each batch, of some KB.
`,
	};
}
