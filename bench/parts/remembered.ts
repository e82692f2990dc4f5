import type { SourceMeasurement, SourceTask } from '../children/sourceChild';
import { figure, judged, table, withSpread } from '../page/words';
import { numberIn, numbers, ratios } from '../run/figures';
import type { Entry, Figures, Part, PartResults, Section } from '../run/part';
import { runInChild } from '../support/processes';
import { startServer } from '../support/server';

/** One in so many has changed. */
const CHANGED_IN = 100;

const AIMS = [
	{
		what: 'Send New and Changed, a first load of 100,000 and of 500,000: time',
		against: 'the same without remembering',
		aim: '≤ 1.5',
	},
	{
		what: 'Send New and Changed, an unchanged night of 100,000: bytes of notes',
		against: '–',
		aim: '≤ 1.3 KB',
	},
	{
		what: 'Send New and Changed, a night of 500,000 with 1 % changed: bytes of notes',
		against: '–',
		aim: '≤ 16 MB',
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
		return {
			sizes: { most, middle: most / 5 },
			rounds: 1,
			entries: [most / 5, most].map(nightsEntry),
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
	const figures: Record<string, number> = {};
	try {
		for (const [name, night] of Object.entries(NIGHTS)) {
			await server.ask('clear');
			const task: SourceTask = { target: server.target, documents, ...night };
			const { seconds, cpuSeconds, found, unchanged } = await runInChild<SourceMeasurement>(
				'children/sourceChild.js',
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

function report(results: PartResults): Section {
	const { most = 0, middle = 0 } = results.sizes;
	const sizes = [middle, most];
	const night = (documents: number, one: string, other?: string) => {
		const values = numbers(results, nightsOf(documents), one);
		if (other === undefined) return values;
		return ratios(values, numbers(results, nightsOf(documents), other));
	};
	const changed = night(most, 'changedNoteBytes').map((bytes) => bytes / 1e6);
	return {
		aims: [
			judged(
				AIMS[0],
				sizes.flatMap((size) => night(size, 'firstSeconds', 'plainSeconds')),
				(times) => times <= 1.5,
			),
			judged(AIMS[1], night(middle, 'unchangedNoteBytes'), (bytes) => bytes <= 1300, { digits: 0 }),
			judged(AIMS[2], changed, (bytes) => bytes <= 16, { unit: ' MB' }),
		],
		text: `
What _When Run Again_ keeps in the knowledgebase ([keeping in step](keeping-in-step.md)), in a first load and the nights after it. Documents of 1 KB, records of a file in n8n's file-system binary data, with When Run Again = Send New and Changed, everything else as it is by default (so with _Process and Wait_), and Output = Summary, on a server that costs nothing; beside the same without remembering. What is noted is counted on the server.

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

On a real server, a document of 16 MB alone was written in 1.9 s and read in 0.4 s; these notes are pieces of 61 KB. While documents are stored, a page of a journal goes with each batch, of some KB. A piece in which anything changed is written whole, so a night with 1 % changed writes about what it reads. A night that takes longer renews its lease every 20 s.
`,
	};
}
