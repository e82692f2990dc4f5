import path from 'node:path';

import type { ThreadMeasurement, ThreadTask } from '../children/threadChild';
import { figure, judged, table, withSpread } from '../page/words';
import { byRound, numberIn, numbers, ratios } from '../run/figures';
import type { Entry, Figures, Part, PartResults, Section } from '../run/part';
import { runInChild } from '../support/processes';
import { startServer } from '../support/server';
import type { ServerSettings } from '../support/server';

const FAR: ServerSettings = { distance: { roundTripMs: 30, documentMs: 0, uploadMs: 0 } };
const NEAR: ServerSettings = {};
const HELPER_AT_ONCE = 5;

const AIMS = [
	{
		what: 'Thread: Get, TLS, 30 ms round trip: throughput',
		against: 'axios, keep-alive, one after another',
		aim: '≥ 1',
	},
	{
		what: "Thread: Get: processor time an item beyond n8n's own resolution and helper",
		against: 'the helper, five at once',
		aim: '< 0.2 ms',
	},
];

const NAMES = {
	far: 'Thread: Get, far server',
	farAxios: 'axios one after another, far server',
	near: 'Thread: Get, near server',
	nearHelper: "n8n's own resolution and helper, near server",
};

/** How fast many threads are read, as for any operation that is one request an item. */
export const threadsPart: Part = {
	name: 'threads',
	title: 'Thread: Get for many items',
	aims: AIMS,
	plan: ({ quick }) => {
		const sizes = { far: quick ? 30 : 50, near: quick ? 500 : 1000 };
		const measuring = (
			settings: ServerSettings,
			task: Pick<ThreadTask, 'contender' | 'items'>,
		): Pick<Entry, 'measure' | 'say'> => ({
			measure: async () => await measure(settings, task),
			say: (figures) =>
				`${figure(numberIn(figures, 'read') / numberIn(figures, 'seconds'))} items a second`,
		});
		return {
			sizes,
			rounds: quick ? 1 : 7,
			entries: [
				{
					name: NAMES.far,
					seconds: 3 + sizes.far * 0.025,
					...measuring(FAR, { contender: 'get', items: sizes.far }),
				},
				{
					name: NAMES.farAxios,
					seconds: 3 + sizes.far * 0.035,
					...measuring(FAR, { contender: 'axios', items: sizes.far }),
				},
				{
					name: NAMES.near,
					seconds: 3 + sizes.near * 0.002,
					...measuring(NEAR, { contender: 'get', items: sizes.near }),
				},
				{
					name: NAMES.nearHelper,
					seconds: 3 + sizes.near * 0.001,
					...measuring(NEAR, { contender: 'helper', items: sizes.near }),
				},
			],
		};
	},
	report,
};

async function measure(
	settings: ServerSettings,
	work: Pick<ThreadTask, 'contender' | 'items'>,
): Promise<Figures> {
	const server = await startServer(settings);
	try {
		const warmUp = settings === NEAR ? 500 : 10;
		const task: ThreadTask = {
			...work,
			warmUp,
			concurrency: HELPER_AT_ONCE,
			target: server.target,
		};
		const module = path.join(__dirname, '..', 'children', 'threadChild.js');
		const measured = await runInChild<ThreadMeasurement>(module, task, { env: server.env });
		if (measured.read !== work.items)
			throw new Error(`Of ${work.items} threads, ${measured.read} were read`);
		return { ...measured };
	} finally {
		await server.stop();
	}
}

function report(results: PartResults): Section {
	const speeds = (name: string) =>
		ratios(numbers(results, name, 'read'), numbers(results, name, 'seconds'));
	const cpuMs = (name: string) =>
		byRound(
			numbers(results, name, 'cpuSeconds'),
			numbers(results, name, 'read'),
			(seconds, items) => (seconds * 1000) / items,
		);
	const own = byRound(cpuMs(NAMES.near), cpuMs(NAMES.nearHelper), (one, other) => one - other);
	const { far, near } = results.sizes;
	return {
		aims: [
			judged(AIMS[0], ratios(speeds(NAMES.far), speeds(NAMES.farAxios)), (ratio) => ratio >= 1),
			judged(AIMS[1], own, (ms) => ms < 0.2, { digits: 3, unit: ' ms' }),
		],
		plots: [],
		text: `
${figure(far ?? 0)} items against a server behind TLS and 30 ms of round trip, with the node's own default of requests at once, beside a client that keeps its connection and reads one thread after another. Then ${figure(near ?? 0)} items against a near one without TLS, where the processor is what counts.

${table(
	['', 'items a second', 'processor time, ms an item'],
	Object.values(NAMES).map((name) => [
		name,
		withSpread(speeds(name), 0),
		withSpread(cpuMs(name), 3),
	]),
)}
`,
	};
}
