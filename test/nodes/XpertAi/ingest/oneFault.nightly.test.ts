import range from 'lodash/range';

import { AFTER_DOING, NIGHT_FAULTS } from './support/nightFaults';
import type { Answer } from './support/nightFaults';
import { Nights, UNREMEMBERED } from './support/nights';
import type { Setup, Source, Trouble } from './support/nights';

/** What the nights before have left, and what the night with the fault brings. */
const SHAPES: Record<string, { before: Source[]; tonight: Source }> = {
	'the first night': { before: [], tonight: { a: 0, b: 0 } },
	'a night in which nothing changed': {
		before: [{ a: 0, b: 0, c: 0 }],
		tonight: { a: 0, b: 0, c: 0 },
	},
	'a night of which documents are gone': { before: [{ a: 0, b: 0, c: 0 }], tonight: { a: 0 } },
	'a night with one unchanged, changed, gone, back and new each': {
		before: [
			{ a: 0, b: 0, c: 0, d: 0 },
			{ a: 0, b: 0, c: 0 },
		],
		tonight: { a: 0, b: 1, d: 0, e: 0 },
	},
};

/** Faults that tell most where they last: a proxy without its server, and one that answers for it. */
const STAYING = ['404 of somebody else', '404, no such route', '503', 'an empty list'];

/** Every fault at a request: before the server does it, after it has done it, and from then on. */
const troublesAt = (request: number): Array<[string, Trouble]> => [
	...Object.entries(NIGHT_FAULTS).map(([name, answer]): [string, Trouble] => [
		`${name} at ${request}`,
		{ request, answer, done: false },
	]),
	...STAYING.map((name): [string, Trouble] => [
		`${name} from ${request} on`,
		{ request, answer: NIGHT_FAULTS[name] as Answer, done: false, stays: true },
	]),
	...AFTER_DOING.map((name): [string, Trouble] => [
		`${name} after ${request} was done`,
		{ request, answer: NIGHT_FAULTS[name] as Answer, done: true },
	]),
	...[1, 2, 4].map((late): [string, Trouble] => [
		`no answer in time at ${request}, carried out ${late} later`,
		{ request, answer: NIGHT_FAULTS['no answer in time'] as Answer, done: false, late },
	]),
	...[true, false].map((done): [string, Trouble] => [
		`n8n ends at ${request}, ${done ? 'done' : 'not done'}`,
		{ request, answer: 'crash', done },
	]),
];

let nights: Nights;
beforeAll(async () => (nights = await Nights.start()));
afterAll(async () => await nights.close());

/** The nights of a shape, the last of them with the trouble, in a knowledgebase of their own. */
async function upToTonight(shape: string, setup: Partial<Setup>, trouble?: Trouble) {
	const { before, tonight } = SHAPES[shape] ?? { before: [], tonight: {} };
	const knowledgebaseId = await nights.knowledgebase();
	const all = { ...setup, turns: [0] };
	for (const source of before) await nights.night(knowledgebaseId, { source, ...all });
	const course = await nights.night(knowledgebaseId, { source: tonight, trouble, ...all });
	return { knowledgebaseId, course, tonight, last: before.at(-1) ?? tonight, all };
}

/** What is wrong after a night with this trouble, in a line; nothing if all is well. */
async function flawOf(shape: string, setup: Partial<Setup>, trouble: Trouble, back: boolean) {
	const { knowledgebaseId, course, tonight, last, all } = await upToTonight(shape, setup, trouble);
	const flaws: string[] = [];
	const isRight = async (source: Source) =>
		JSON.stringify(await nights.found(knowledgebaseId)) ===
		JSON.stringify(sorted(nights.expected(source)));
	// The night has said that nothing is remembered: what it stored is known to no later one.
	if (course.said.some((words) => UNREMEMBERED.test(words))) return flaws;
	const saysNothing = !course.error && course.said.every((words) => COUNTS.test(words));
	if (saysNothing && !(await isRight(tonight))) flaws.push('says nothing');
	const after = back ? last : tonight;
	for (const night of [1, 2]) {
		const { wrong } = await nights.night(knowledgebaseId, { source: after, ...all });
		if (wrong.length > 0) flaws.push(`disables what it brings in night ${night}`);
		if (!(await isRight(after))) flaws.push(`is wrong after night ${night}`);
	}
	nights.remove(knowledgebaseId);
	return flaws;
}

/** What is said of every night. */
const COUNTS = /^Documents: |documentNum/;

const sorted = (found: Record<string, string>) =>
	Object.fromEntries([...Object.entries(found)].sort(([one], [other]) => rank(one) - rank(other)));
const rank = (key: string) => (key === 'by hand' ? 1000 : key.charCodeAt(0));

const ALL = 'a night with one unchanged, changed, gone, back and new each';

it.each<[string, Partial<Setup>]>([
	...Object.keys(SHAPES).map((shape): [string, Partial<Setup>] => [
		shape,
		{ from: 'json', afterStoring: 'process', retries: false },
	]),
	[ALL, { from: 'text', afterStoring: 'wait', retries: false }],
	[ALL, { from: 'json', afterStoring: 'process', retries: true }],
])(
	'one fault at each request of %s (%j): the two nights after it end with exactly the source',
	async (shape, setup) => {
		const { course } = await upToTonight(shape, setup);
		const trials = range(course.requests).flatMap((request) =>
			troublesAt(request).flatMap(([name, trouble]) =>
				(shape === ALL ? [false, true] : [false]).map((back) => ({ name, trouble, back })),
			),
		);
		const flaws: string[] = [];
		for (const { name, trouble, back } of trials)
			for (const flaw of await flawOf(shape, setup, trouble, back)) {
				flaws.push(`${name}, ${back ? 'then back' : 'then the same'}: ${flaw}`);
				if (process.env.SHOW) process.stderr.write(`${flaws.at(-1)}\n`);
			}
		expect(flaws).toEqual([]);
	},
	1_800_000,
);
