import type { GrowthMeasurement, GrowthTask, Kind } from '../children/growthChild';
import { figure, table, withSpread } from '../page/words';
import { exponent } from '../run/figures';
import type { Entry, Figures, Part, PartResults, Section } from '../run/part';
import { runInChild } from '../support/processes';
import { onServer } from '../support/server';

/** What may be counted or measured of each size. */
const COUNTED = ['cpuCurve', 'requestCurve', 'byteCurve'] as const;

type Counted = (typeof COUNTED)[number];

/** What grows, and how long that takes. */
interface Subject {
	kind: Kind;
	name: string;
	seconds: number;
	/** How many times as many there are of it, where 1,000 take less time than can be measured. */
	times?: number;
}

const SUBJECTS: Subject[] = [
	{ kind: 'items', name: "items of Document: Submit, in n8n's engine", seconds: 9 },
	{ kind: 'batches', name: 'batches that are stored, of one document each', seconds: 4 },
	{ kind: 'unchanged', name: 'documents that have not changed', seconds: 4 },
	{ kind: 'conversations', name: 'conversations given by one poll', seconds: 10 },
	{ kind: 'runs', name: 'runs put in order, each on a thread of its own', seconds: 6, times: 8 },
];

const MOST = 1.1;

const AIMS = [
	{
		what: 'growth: the highest exponent of processor time, requests or bytes',
		against: '1,000 to 64,000 items, batches, documents, conversations or runs',
		aim: `≤ ${MOST}`,
	},
];

/** How what is done grows with how much there is to do. */
export const growthPart: Part = {
	name: 'growth',
	title: 'Growth',
	aims: AIMS,
	plan: ({ quick }) => {
		const least = quick ? 500 : 1_000;
		const sizes = { least, middle: 8 * least, most: 64 * least };
		return {
			sizes,
			rounds: 1,
			entries: SUBJECTS.map(
				({ kind, name, seconds, times = 1 }): Entry => ({
					name,
					seconds,
					measure: async () =>
						await measure(
							kind,
							Object.values(sizes).map((size) => size * times),
						),
					say: (figures) =>
						`${figure((valuesOf(figures, 'cpuCurve').at(-1) ?? Number.NaN) * 1000)} ms for the most`,
				}),
			),
		};
	},
	report,
};

async function measure(kind: Kind, sizes: number[]): Promise<Figures> {
	return await onServer({ bare: true }, async (server) => {
		const task: GrowthTask = { kind, sizes, target: server.target };
		return { ...(await runInChild<GrowthMeasurement>('children/growthChild.js', task)) };
	});
}

function valuesOf(figures: Figures, counted: Counted): number[] {
	const values = figures[counted];
	return Array.isArray(values) ? values : [];
}

function report(results: PartResults): Section {
	const { least = Number.NaN, middle = Number.NaN, most = Number.NaN } = results.sizes;
	const rounds = ({ name }: Subject) => results.entries[name] ?? [];
	/** The exponent of a figure, a round each: over all sizes, or over the last step. */
	const exponents = (subject: Subject, counted: Counted, from: 0 | 1) =>
		rounds(subject).map((figures) => {
			const values = valuesOf(figures, counted);
			const [first = Number.NaN, last = Number.NaN] = [values[from], values[2]];
			return exponent([from === 0 ? least : middle, most], [first, last]);
		});
	const isCounted = (subject: Subject, counted: Counted) =>
		rounds(subject).some((figures) => valuesOf(figures, counted).some((value) => value > 0));
	const judgedOf = SUBJECTS.flatMap((subject) =>
		COUNTED.filter((counted) => isCounted(subject, counted)).flatMap((counted) =>
			exponents(subject, counted, 0),
		),
	);
	const highest = Math.max(...judgedOf);
	const isMeasured = SUBJECTS.every((subject) => rounds(subject).length > 0);
	const cells = (subject: Subject, counted: Counted) =>
		isCounted(subject, counted) ? withSpread(exponents(subject, counted, 0)) : '–';
	return {
		aims: AIMS.map((aim) =>
			isMeasured
				? { ...aim, measured: figure(highest, 2), met: highest <= MOST }
				: { ...aim, measured: 'not measured' },
		),
		text: `
With which power what is done grows with how much there is to do, from ${figure(least)} over ${figure(middle)} to ${figure(most)}: 1 is as much again for as many again, 2 is four times as much for twice as many. Requests and bytes are counted, and the same each time; of processor time the middle of several measurements counts, which goes up a little where more is kept than fits into the processor's caches and Node's young garbage. _The last step_ is from ${figure(middle)} to ${figure(most)} alone. Runs are eight times as many, as 1,000 of them take a millisecond.

${table(
	['', 'processor time', 'the last step', 'requests', 'bytes sent'],
	SUBJECTS.map((subject) => [
		subject.name,
		cells(subject, 'cpuCurve'),
		withSpread(exponents(subject, 'cpuCurve', 1)),
		cells(subject, 'requestCurve'),
		cells(subject, 'byteCurve'),
	]),
)}

Items go through n8n's engine to a server that costs nothing; all others through the part of the node that does it, with a server in the same process.
`,
	};
}
