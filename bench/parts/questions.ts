import type { QuestionMeasurement, QuestionTask } from '../children/questionChild';
import { judged, table, withSpread } from '../page/words';
import { numberIn, numbers, ratios } from '../run/figures';
import type { Entry, Figures, Part, PartResults, Section } from '../run/part';
import { runInChild } from '../support/processes';
import { onServer } from '../support/server';

/** What the model takes for an answer. */
const MODEL_MS = 3000;

const aimFor = (what: string, against: string) => ({
	what: `a question ${what}, a model of ${MODEL_MS / 1000} s: time`,
	against,
	aim: '≤ 1.2',
});

const AIMS = [
	aimFor('in a new conversation', 'by hand (E13 and E4)'),
	aimFor('on a thread', 'by hand (E4)'),
	aimFor('under a key', 'by hand (E4)'),
];

type Way = Pick<QuestionTask, 'by' | 'on'>;

const WAYS: Way[] = [
	{ by: 'node', on: 'new' },
	{ by: 'hand', on: 'new' },
	{ by: 'node', on: 'existing' },
	{ by: 'hand', on: 'existing' },
	{ by: 'node', on: 'key' },
];

const PLACES = { new: 'a new conversation', existing: 'a thread', key: 'a key' };

const nameOf = ({ by, on }: Way) =>
	`${by === 'node' ? 'Thread: Ask and Wait' : 'by hand'}, ${PLACES[on]}`;

/** How long a question takes, beside what somebody would send by hand. */
export const questionsPart: Part = {
	name: 'questions',
	title: 'A question',
	aims: AIMS,
	plan: ({ quick }) => {
		const questions = quick ? 2 : 3;
		return {
			sizes: { questions },
			rounds: quick ? 1 : 2,
			entries: WAYS.map(
				(way): Entry => ({
					name: nameOf(way),
					seconds: 2 + (questions * MODEL_MS) / 1000,
					measure: async () => await measure({ ...way, questions }),
					say: (figures) => `${numberIn(figures, 'seconds').toFixed(2)} s a question`,
				}),
			),
		};
	},
	report,
};

async function measure(work: Omit<QuestionTask, 'target'>): Promise<Figures> {
	return await onServer({}, async (server) => {
		const faults = ['E4', 'runs'].map((endpoint) => ({
			endpoint,
			ms: MODEL_MS,
			do: 'run' as const,
		}));
		await server.ask('faults', faults);
		const task: QuestionTask = { ...work, target: server.target };
		const { seconds } = await runInChild<QuestionMeasurement>('children/questionChild.js', task, {
			env: server.env,
		});
		const [first = Number.NaN, ...later] = seconds;
		return { first, seconds: later.reduce((sum, one) => sum + one, 0) / later.length };
	});
}

function report(results: PartResults): Section {
	const seconds = (by: Way['by'], on: Way['on']) => numbers(results, nameOf({ by, on }), 'seconds');
	const ratio = (on: Way['on'], beside: Way['on']) =>
		ratios(seconds('node', on), seconds('hand', beside));
	const isClose = (value: number) => value <= 1.2;
	return {
		aims: [
			judged(AIMS[0], ratio('new', 'new'), isClose),
			judged(AIMS[1], ratio('existing', 'existing'), isClose),
			judged(AIMS[2], ratio('key', 'existing'), isClose),
		],
		text: `
One question after another, against a near server whose model takes ${MODEL_MS / 1000} seconds. The first one of a process loads the node, and makes the conversation of a key; it is shown apart.

${table(
	['', 'seconds a question', 'the first one'],
	WAYS.map((way) => [
		nameOf(way),
		withSpread(numbers(results, nameOf(way), 'seconds')),
		withSpread(numbers(results, nameOf(way), 'first')),
	]),
)}
`,
	};
}
