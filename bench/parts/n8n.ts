import { parse } from 'flatted';
import { range } from 'lodash';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { z } from 'zod';

import { type Host, startHost } from '../../host/host';
import type { CredentialReference } from '../../host/n8nRestClient';
import { preparePackage } from '../../host/nodePackage';
import { n8nFolder } from '../../host/paths';
import { waitFor } from '../../host/waitFor';
import { type Part, type Row, compared } from '../report';
import { type Server, onServer } from '../support/server';
import {
	BATCHES,
	SENT,
	SOURCE,
	SUBMIT,
	readyWorkflow,
	requestWorkflow,
	submitWorkflow,
} from './n8nWorkflows';
import type { Load } from './n8nWorkflows';

const MISSING = 'not measured: n8n is not installed; npm start installs it';

/** One request in five goes wrong: busy, a connection that breaks before or after, a gateway that gives up. */
const ONE_IN_FIVE = [
	{ do: 'status' as const, status: 503, when: 'before' as const },
	{ do: 'drop' as const, when: 'before' as const },
	{ do: 'drop' as const, when: 'after' as const },
	{ do: 'status' as const, status: 504, when: 'after' as const },
].map((action, at) => ({ ...action, endpoint: 'E3', nth: range(5 * at + 3, 10_000, 20) }));

/** What users would build without the node, in the same n8n. */
export const n8nPart: Part = {
	name: 'n8n',
	measure: async ({ quick }) => {
		if (!existsSync(path.join(n8nFolder, 'node_modules', 'n8n-nodes-base')))
			return [{ what: 'Submit in a real n8n', measured: MISSING }];
		await preparePackage(() => undefined);
		return await onServer('sandbox', async (server) => await inN8n(server, quick));
	},
};

async function inN8n(server: Server, quick: boolean): Promise<Row[]> {
	const userFolder = mkdtempSync(path.join(tmpdir(), 'xpertai-bench-n8n-'));
	const host = await startHost({ userFolder });
	try {
		const credential = await host.rest.createCredential({
			name: 'Benchmark',
			type: 'xpertAiApi',
			data: { ...server.target.credential, allowInsecureHttp: false },
		});
		const n8n: N8n = { host, server, credential };
		const rows: Row[] = [];
		for (const concurrency of [1, 5]) rows.push(...(await speedRows(n8n, concurrency, quick)));
		return [...rows, await faultsRow(n8n, quick ? 200 : 600)];
	} finally {
		await host.stop();
		rmSync(userFolder, { recursive: true, force: true });
	}
}

/** A real n8n with the packed node, and the server that its credential leads to. */
interface N8n {
	host: Host;
	server: Server;
	credential: CredentialReference;
}

const WAYS = { submit: submitWorkflow, requests: requestWorkflow, ready: readyWorkflow };
const NAMES = {
	requests: 'what users would build: Code that makes batches, Loop and HTTP Request',
	ready: 'the fastest that can be built: one HTTP Request over ready batches, all at once',
};

/** What users would build, which is judged, and below it the fastest that can be built. */
async function speedRows(n8n: N8n, concurrency: number, quick: boolean): Promise<Row[]> {
	const documents = quick ? 500 : 2000;
	const load = { documents, concurrency, batchSize: 100, withIds: true, careful: false };
	const speeds: Record<keyof typeof WAYS, number[]> = { submit: [], requests: [], ready: [] };
	// The first round has all code compiled.
	for (const round of range(quick ? 2 : 6)) {
		for (const way of Object.keys(speeds) as Array<keyof typeof WAYS>) {
			await n8n.server.ask('clear');
			const { status, seconds: taken } = await run(n8n, way, load);
			const arrived = await n8n.server.ask('arrived');
			if (status !== 'success' || arrived.documents !== documents)
				throw new Error(`The execution ended with ${status}: ${arrived.documents} documents`);
			if (round > 0) speeds[way].push(documents / taken);
		}
	}
	const what = `speed of Submit in n8n, ${concurrency} ${concurrency === 1 ? 'request' : 'requests'} at once`;
	return [
		compared(what, speeds.submit, [NAMES.requests, speeds.requests], { least: 1.5 }),
		compared(what, speeds.submit, [NAMES.ready, speeds.ready], {}),
	];
}

/** What the output says of each document, by its name. */
type Reported = Map<string, 'stored' | 'not stored'>;

/** Counts what is wrong after an execution: not there, there twice, or there, and the output does not say so. */
async function harmOf(n8n: N8n, way: keyof typeof WAYS, documents: number): Promise<string> {
	await n8n.server.ask('clear');
	await n8n.server.ask('faults', ONE_IN_FIVE);
	const load = { documents, concurrency: 1, batchSize: 20, withIds: false, careful: true };
	const { tasks } = await run(n8n, way, load);
	const stored = await n8n.server.ask('names');
	const said = way === 'submit' ? reportedBySubmit(tasks) : reportedByRequests(tasks);
	const names = itemsOf(tasks[SOURCE]).map(({ name }) => String(name));
	const count = (isSo: (name: string, copies: number) => boolean) =>
		names.filter((name) => isSo(name, stored[name] ?? 0)).length;
	const lost = count((name, copies) => copies === 0 && said.get(name) !== 'not stored');
	const doubled = count((_, copies) => copies > 1);
	const unreported = count((name, copies) => copies > 0 && said.get(name) !== 'stored');
	return [lost, doubled, unreported].join(', ');
}

async function faultsRow(n8n: N8n, documents: number): Promise<Row> {
	const what = `lost, doubled and unreported of ${documents} documents of Submit in n8n, where one request in five goes wrong`;
	const measured = await harmOf(n8n, 'submit', documents);
	const theirs = await harmOf(n8n, 'requests', documents);
	const beside = `${NAMES.requests}: ${theirs}`;
	return { what, measured, beside, bound: '0, 0, 0', met: measured === '0, 0, 0' };
}

const reportedBySubmit = (tasks: Tasks): Reported =>
	new Map(
		itemsOf(tasks[SUBMIT]).map(({ name, outcome }) => [
			String(name),
			outcome === 'stored' ? 'stored' : 'not stored',
		]),
	);

/** An answer lists the documents stored; what has gone wrong stands for its whole batch. */
function reportedByRequests(tasks: Tasks): Reported {
	const batches = itemsOf(tasks[BATCHES]).map(({ documents }) => documents as Json[]);
	const reported: Reported = new Map();
	(tasks[SENT] ?? []).forEach((task, index) => {
		// One batch goes through the loop at a time.
		if (itemsOf([task], 1).length === 0) return;
		for (const { name } of batches[index] ?? []) reported.set(String(name), 'not stored');
	});
	for (const { name } of itemsOf(tasks[SENT])) reported.set(String(name), 'stored');
	return reported;
}

type Json = Record<string, unknown>;

const taskSchema = z.object({
	startTime: z.number(),
	executionTime: z.number(),
	data: z
		.object({ main: z.array(z.array(z.object({ json: z.record(z.unknown()) })).nullable()) })
		.optional(),
});

const executionSchema = z.object({
	resultData: z.object({ runData: z.record(z.array(taskSchema)).default({}) }),
});

/** What n8n keeps of each run of each node. */
type Tasks = Record<string, Array<z.infer<typeof taskSchema>>>;

const itemsOf = (tasks: Tasks[string] = [], output = 0): Json[] =>
	tasks.flatMap(({ data }) => (data?.main[output] ?? []).map(({ json }) => json));

const FINISHED = ['success', 'error', 'canceled', 'crashed'];

/** Runs a workflow to its end; the time is taken from the end of the node that makes the documents. */
async function run({ host, server, credential }: N8n, way: keyof typeof WAYS, load: Load) {
	const { id } = await host.rest.createWorkflow(WAYS[way](load, server.target, credential));
	const execution = await host.rest.runWorkflow(id, 'Start');
	const stored = await waitFor(
		`execution ${execution} to end`,
		async () => {
			const found = await host.rest.findExecution(execution);
			return FINISHED.includes(String(found?.status)) ? found : undefined;
		},
		{ everyMs: 500 },
	);
	const tasks: Tasks = executionSchema.parse(parse(String(stored.data))).resultData.runData;
	const ends = (some: Tasks[string]) =>
		some.map(({ startTime, executionTime }) => startTime + executionTime);
	const seconds =
		Math.max(...ends(Object.values(tasks).flat())) - Math.max(...ends(tasks[SOURCE] ?? []));
	return { status: String(stored.status), seconds: seconds / 1000, tasks };
}
