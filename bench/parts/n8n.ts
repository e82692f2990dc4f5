import { existsSync } from 'node:fs';

import { preparePackage } from '../../host/nodePackage';
import { figure, judged, table, withSpread } from '../page/words';
import { numberIn, numbers, ratios } from '../run/figures';
import type { Aim, Entry, Figures, Part, PartResults, Section } from '../run/part';
import { startN8n } from '../support/n8n';
import type { N8nExecution, NodeTask, RunningN8n } from '../support/n8n';
import {
	BATCHES,
	SENT,
	SOURCE,
	SUBMIT,
	requestWorkflow,
	submitWorkflow,
} from '../support/n8nWorkflows';
import type { N8nLoad } from '../support/n8nWorkflows';
import { NODES_BASE } from '../support/paths';

const BATCH_SIZE = 100;
const SMALL_BATCH = 20;
const CONCURRENCIES = [1, 5];

/** One request in five goes wrong: busy, a connection that breaks before or after, a gateway that gives up. */
const ONE_IN_FIVE = {
	endpoint: 'E3',
	probability: 0.2,
	seed: 7,
	do: 'oneOf',
	actions: [
		{ do: 'status', status: 503, when: 'before' },
		{ do: 'drop', when: 'before' },
		{ do: 'drop', when: 'after' },
		{ do: 'status', status: 504, when: 'after' },
	],
} as const;

const AIMS = [
	...CONCURRENCIES.map((concurrency) => ({
		what: `Submit in a real n8n, ${concurrency} at once: throughput`,
		against: 'Code node (task runner) and HTTP Request, equal concurrency',
		aim: '≥ 2',
	})),
	{
		what: 'Submit in a real n8n, one request in five goes wrong: documents lost, doubled, unreported',
		against: 'Code node and HTTP Request, Retry On Fail',
		aim: '0',
	},
];

const speedName = (kind: 'Submit' | 'Code and HTTP Request', concurrency: number) =>
	`${kind}, ${concurrency} at once`;

const FAULTY = {
	submit: 'Submit, one in five goes wrong',
	requests: 'Code and HTTP Request, one in five goes wrong',
};

/** What users would build instead, in the same n8n. */
export const n8nPart: Part = {
	name: 'n8n',
	title: 'A Code node and HTTP Request in a real n8n',
	aims: AIMS,
	unavailable: () =>
		existsSync(NODES_BASE) ? undefined : 'n8n is not installed; npm start installs it',
	plan: ({ quick }) => {
		const sizes = { documents: quick ? 1000 : 3000, faulty: quick ? 400 : 600 };
		let started: Promise<RunningN8n> | undefined;
		const running = async () => await (started ??= warmedUp());
		const speed = (concurrency: number): Entry[] => {
			const load: N8nLoad = {
				documents: sizes.documents,
				batchSize: BATCH_SIZE,
				concurrency,
				withIds: true,
				careful: false,
			};
			const say = (figures: Figures) =>
				`${figure(sizes.documents / numberIn(figures, 'seconds'))} documents a second`;
			return [
				{
					name: speedName('Submit', concurrency),
					seconds: 2,
					say,
					measure: async () => await measureSpeed(await running(), submitWorkflow, load),
				},
				{
					name: speedName('Code and HTTP Request', concurrency),
					seconds: 3,
					say,
					measure: async () => await measureSpeed(await running(), requestWorkflow, load),
				},
			];
		};
		const faulty: N8nLoad = {
			documents: sizes.faulty,
			batchSize: SMALL_BATCH,
			concurrency: 1,
			withIds: false,
			careful: true,
		};
		const say = (figures: Figures) =>
			['lost', 'doubled', 'unreported']
				.map((word) => `${numberIn(figures, word)} ${word}`)
				.join(', ');
		const faultyEntry = (
			name: string,
			makeWorkflow: typeof submitWorkflow,
			load: N8nLoad,
			reported: Reported,
		): Entry => ({
			name,
			seconds: 4 + sizes.faulty / 60,
			rounds: 1,
			say,
			measure: async () => await measureFaults(await running(), makeWorkflow, load, reported),
		});
		return {
			sizes,
			rounds: quick ? 1 : 5,
			together: true,
			entries: [
				...CONCURRENCIES.flatMap(speed),
				faultyEntry(FAULTY.submit, submitWorkflow, faulty, reportedBySubmit),
				faultyEntry(FAULTY.requests, requestWorkflow, faulty, reportedByRequests),
			],
			prepare: async () => await preparePackage(() => undefined),
			close: async () => await (await started)?.stop(),
		};
	},
	report,
};

/** A running n8n that has compiled all code of both ways. */
async function warmedUp(): Promise<RunningN8n> {
	const n8n = await startN8n();
	const load = { documents: 1000, batchSize: BATCH_SIZE, concurrency: 1, withIds: true };
	for (const makeWorkflow of [submitWorkflow, requestWorkflow])
		await measureSpeed(n8n, makeWorkflow, { ...load, careful: false });
	return n8n;
}

async function measureSpeed(
	{ server, credential, run }: RunningN8n,
	makeWorkflow: typeof submitWorkflow,
	load: N8nLoad,
): Promise<Figures> {
	await server.ask('clear');
	const { status, seconds } = await run(makeWorkflow(load, server.target, credential));
	const { documents } = await server.ask('arrived');
	if (status !== 'success' || documents !== load.documents)
		throw new Error(`The execution ended with ${status}, and ${documents} documents are there`);
	return { seconds, documents };
}

/** What the output says of each document, by its name. */
type Reported = (execution: N8nExecution) => Map<string, 'stored' | 'not stored'>;

const namesIn = (tasks: NodeTask[] = [], output = 0): string[] =>
	tasks.flatMap(({ data }) => (data?.main[output] ?? []).map(({ json }) => String(json.name)));

const reportedBySubmit: Reported = ({ tasks }) => {
	const items = (tasks[SUBMIT] ?? []).flatMap(({ data }) => data?.main[0] ?? []);
	return new Map(
		items.map(({ json }) => [
			String(json.name),
			json.outcome === 'stored' ? 'stored' : 'not stored',
		]),
	);
};

/** An answer lists the documents stored; what has gone wrong stands for its whole batch. */
const reportedByRequests: Reported = ({ tasks }) => {
	const batches = (tasks[BATCHES]?.[0]?.data?.main[0] ?? []).map(({ json }) =>
		(json.documents as Array<{ name: string }>).map(({ name }) => name),
	);
	const reported = new Map<string, 'stored' | 'not stored'>();
	(tasks[SENT] ?? []).forEach((task, index) => {
		// One batch goes through the loop at a time.
		if ((task.data?.main[1] ?? []).length === 0) return;
		for (const name of batches[index] ?? []) reported.set(name, 'not stored');
	});
	for (const name of namesIn(tasks[SENT])) reported.set(name, 'stored');
	return reported;
};

async function measureFaults(
	{ server, credential, run }: RunningN8n,
	makeWorkflow: typeof submitWorkflow,
	load: N8nLoad,
	reported: Reported,
): Promise<Figures> {
	await server.ask('clear');
	await server.ask('faults', [{ ...ONE_IN_FIVE, actions: [...ONE_IN_FIVE.actions] }]);
	const execution = await run(makeWorkflow(load, server.target, credential));
	const stored = await server.ask('names');
	const { requests } = await server.ask('arrived');
	const said = reported(execution);
	const names = namesIn(execution.tasks[SOURCE]);
	const count = (isSo: (name: string) => boolean) => names.filter(isSo).length;
	const isThere = (name: string) => (stored[name] ?? 0) > 0;
	return {
		documents: names.length,
		requests,
		seconds: execution.seconds,
		/** Not there, and nobody says so. */
		lost: count((name) => !isThere(name) && said.get(name) !== 'not stored'),
		doubled: count((name) => (stored[name] ?? 0) > 1),
		/** There, and nobody says so. */
		unreported: count((name) => isThere(name) && said.get(name) !== 'stored'),
		notStored: count((name) => !isThere(name) && said.get(name) === 'not stored'),
	};
}

function report(results: PartResults): Section {
	const speeds = (kind: 'Submit' | 'Code and HTTP Request', concurrency: number) => {
		const name = speedName(kind, concurrency);
		return ratios(numbers(results, name, 'documents'), numbers(results, name, 'seconds'));
	};
	const harm = (name: string) => {
		const [figures] = results.entries[name] ?? [];
		if (!figures) return undefined;
		return ['lost', 'doubled', 'unreported'].map((word) => numberIn(figures, word));
	};
	const ours = harm(FAULTY.submit);
	const faulty = AIMS[2];
	const harmAim: Aim[] =
		faulty === undefined
			? []
			: [
					ours === undefined
						? { ...faulty, measured: 'not measured' }
						: {
								...faulty,
								measured: `${ours.join(', ')} (theirs ${harm(FAULTY.requests)?.join(', ') ?? 'not measured'})`,
								met: ours.every((count) => count === 0),
							},
				];
	const { documents = 0, faulty: faultyDocuments = 0 } = results.sizes;
	return {
		aims: [
			...CONCURRENCIES.map((concurrency, index) =>
				judged(
					AIMS[index],
					ratios(speeds('Submit', concurrency), speeds('Code and HTTP Request', concurrency)),
					(ratio) => ratio >= 2,
				),
			),
			...harmAim,
		],
		text: `
The packed node in an n8n that was started for this, beside what users would build without it. A Code node makes ${figure(documents)} documents of about 1 KB; then either Document: Submit, or a Code node that makes batches of ${BATCH_SIZE} of them, Loop Over Items with as many batches as requests at once, and HTTP Request. Code nodes run in n8n's task runner. The time is taken from the end of the first Code node to the end of the last node, as n8n noted it.

${table(
	['', 'Submit, documents a second', 'Code and HTTP Request', 'ratio'],
	CONCURRENCIES.map((concurrency) => [
		`${concurrency} at once`,
		withSpread(speeds('Submit', concurrency), 0),
		withSpread(speeds('Code and HTTP Request', concurrency), 0),
		withSpread(ratios(speeds('Submit', concurrency), speeds('Code and HTTP Request', concurrency))),
	]),
)}

### One request in five goes wrong

The same with ${figure(faultyDocuments)} documents in batches of ${SMALL_BATCH}, one after another. One request in five is answered with 503, or its connection breaks before or after the documents were stored, or a gateway answers 504 after they were stored. Submit is as it is, with its key; HTTP Request has Retry On Fail (3 tries, a second between them) and an error output, and sends the documents as they come from their source. Counted on the server and in the output: _lost_ is not there, and the workflow does not say so; _doubled_ is there more than once; _unreported_ is there, and the workflow does not say so.

${table(
	[
		'',
		'documents',
		'lost',
		'doubled',
		'unreported',
		'said to be not stored',
		'requests',
		'seconds',
	],
	Object.values(FAULTY).map((name) => {
		const [figures = {}] = results.entries[name] ?? [];
		const number = (word: string) => figure(numberIn(figures, word));
		return [
			name.replace(', one in five goes wrong', ''),
			number('documents'),
			number('lost'),
			number('doubled'),
			number('unreported'),
			number('notStored'),
			number('requests'),
			number('seconds'),
		];
	}),
)}
`,
	};
}
