import path from 'node:path';

import { figure, judged, table, withSpread } from '../page/words';
import { numberIn, numbers, ratios } from '../run/figures';
import type { Entry, Figures, Part, PartResults, Section } from '../run/part';
import type { OrderTask } from '../children/orderChild';
import { runInChild } from '../support/processes';

const RUNS = 50_000;
const KINDS = [true, false];

/** Twice the work may take so many times as long, and still counts as linear: collections come in lumps. */
const LINEAR = 3;

/** Below this, the ratio of two times says nothing. */
const TOO_SHORT_SECONDS = 0.1;

const kindOf = (sameThread: boolean) => (sameThread ? 'the same thread' : 'different threads');

const AIMS = KINDS.map((sameThread) => ({
	what: `the order of ${figure(RUNS)} runs on ${kindOf(sameThread)}: processor time`,
	against: 'half as many runs',
	aim: '< 1 s, linear',
}));

const nameOf = (runs: number, sameThread: boolean) =>
	`${figure(runs)} runs on ${kindOf(sameThread)}`;

/** What it costs to keep the runs of a thread in order. */
export const orderPart: Part = {
	name: 'order',
	title: 'The order of very many runs',
	aims: AIMS,
	plan: () => ({
		sizes: {},
		rounds: 7,
		together: true,
		entries: KINDS.flatMap((sameThread) =>
			[RUNS / 2, RUNS].map(
				(runs): Entry => ({
					name: nameOf(runs, sameThread),
					seconds: 0.5,
					measure: async () => await measure({ runs, sameThread }),
					say: (figures) => `${figure(numberIn(figures, 'cpuSeconds'), 2)} s`,
				}),
			),
		),
	}),
	report,
};

async function measure(task: OrderTask): Promise<Figures> {
	return await runInChild(path.join(__dirname, '..', 'children', 'orderChild.js'), task);
}

function report(results: PartResults): Section {
	const cpu = (runs: number, sameThread: boolean) =>
		numbers(results, nameOf(runs, sameThread), 'cpuSeconds');
	return {
		aims: KINDS.map((sameThread, index) => {
			const all = cpu(RUNS, sameThread);
			const [growth = Number.NaN] = ratios(all, cpu(RUNS / 2, sameThread));
			return judged(
				AIMS[index],
				all,
				(seconds) => seconds < 1 && (seconds < TOO_SHORT_SECONDS || growth <= LINEAR),
				{ unit: ' s' },
			);
		}),
		plots: [],
		text: `
Thread: Run and Wait, without the runs themselves: only what decides which may begin.

${table(
	['', 'processor time, s'],
	KINDS.flatMap((sameThread) =>
		[RUNS / 2, RUNS].map((runs) => [
			nameOf(runs, sameThread),
			withSpread(cpu(runs, sameThread), 3),
		]),
	),
)}
`,
	};
}
