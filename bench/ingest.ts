import { existsSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

import type { Measurement, Task } from './contenders/contender';
import { NODES_BASE } from './support/paths';
import { runInChild } from './support/processes';
import { startServer } from './support/server';
import type { Arrived, ServerKind } from './support/server';
import { SHARED_OPTIONS, readShared, runBenchmark, whole, wholes } from './support/settings';
import type { SharedSettings } from './support/settings';
import { megabytes, median, table } from './support/table';

const DOCUMENT_BYTES = 1024;

/** A contender at one setting, and what was measured of it in each round. */
interface Entry {
	label: string;
	task: Omit<Task, 'target'>;
	rounds: Array<Measurement & Arrived>;
}

interface Settings extends SharedSettings {
	documents: number;
	httpDocuments: number;
	rounds: number;
	concurrency: number[];
}

function readSettings(): Settings {
	const { values } = parseArgs({
		options: {
			documents: { type: 'string', default: '100000' },
			'http-documents': { type: 'string', default: '3000' },
			rounds: { type: 'string', default: '3' },
			concurrency: { type: 'string', default: '1,5' },
			...SHARED_OPTIONS,
		},
	});
	return {
		...readShared(values),
		documents: whole('--documents', values.documents),
		httpDocuments: whole('--http-documents', values['http-documents']),
		rounds: whole('--rounds', values.rounds),
		concurrency: wholes('--concurrency', values.concurrency),
	};
}

function entriesFor(settings: Settings): Entry[] {
	const { documents, batchSize, httpDocuments } = settings;
	const task = { documents, batchSize, documentBytes: DOCUMENT_BYTES };
	const warmUp = Math.min(2000, documents);
	const batched = settings.concurrency.flatMap((concurrency): Entry[] => [
		{
			label: `Submit, ${concurrency} at once`,
			task: { ...task, contender: 'submit', concurrency, warmUp },
			rounds: [],
		},
		{
			label: `axios, ${concurrency} at once`,
			task: { ...task, contender: 'axios', concurrency, warmUp },
			rounds: [],
		},
	]);
	if (!existsSync(NODES_BASE)) return batched;
	const single: Entry = {
		label: 'HTTP Request, one an item',
		task: {
			...task,
			contender: 'httpRequest',
			documents: httpDocuments,
			concurrency: httpDocuments,
			warmUp: Math.min(200, httpDocuments),
		},
		rounds: [],
	};
	return [...batched, single];
}

/** Runs a contender against a server of its own, both in fresh processes. */
async function measure({ task }: Entry, kind: ServerKind): Promise<Measurement & Arrived> {
	const server = await startServer(kind);
	try {
		const module = path.join(__dirname, 'contenders', 'child.js');
		const measurement = await runInChild<Measurement>(module, { ...task, target: server.target });
		const arrived = await server.arrived();
		if (measurement.documents !== task.documents || arrived.documents < task.documents)
			throw new Error(`Sent ${task.documents}, confirmed ${measurement.documents}`);
		return { ...measurement, requests: arrived.requests };
	} finally {
		await server.stop();
	}
}

const throughput = ({ documents, seconds }: Measurement) => documents / seconds;

/** Processor time of the client for one document. */
const cpuMicroseconds = ({ documents, cpuSeconds }: Measurement) => (cpuSeconds * 1e6) / documents;

const ratios = (ours: Entry, theirs: Entry) =>
	ours.rounds.map((round, index) => {
		const other = theirs.rounds[index];
		return other ? throughput(round) / throughput(other) : Number.NaN;
	});

function report(entries: Entry[]): void {
	const middle = ({ rounds }: Entry, pick: (round: Measurement & Arrived) => number) =>
		median(rounds.map(pick));
	const rows = entries.map((entry) => [
		entry.label,
		String(entry.task.documents),
		middle(entry, throughput).toFixed(0),
		middle(entry, cpuMicroseconds).toFixed(0),
		megabytes(middle(entry, ({ peakRss }) => peakRss)),
		megabytes(middle(entry, ({ peakHeap }) => peakHeap)),
		String(middle(entry, ({ requests }) => requests)),
	]);
	console.log(
		`\n${table(['', 'documents', 'a second', 'CPU µs each', 'peak RSS', 'peak heap', 'requests*'], rows)}`,
	);
	console.log('* including those of the warm-up, which is not timed\n');

	const single = entries.find(({ task }) => task.contender === 'httpRequest');
	const pairs = entries
		.filter(({ task }) => task.contender === 'submit')
		.flatMap((ours) => {
			const bare = entries.find(
				({ task }) => task.contender === 'axios' && task.concurrency === ours.task.concurrency,
			);
			return [bare, single].flatMap((theirs) => (theirs ? [[ours, theirs] as const] : []));
		});
	const ratioRows = pairs.map(([ours, theirs]) => {
		const each = ratios(ours, theirs);
		return [
			`${ours.label} : ${theirs.label}`,
			median(each).toFixed(2),
			`${Math.min(...each).toFixed(2)} to ${Math.max(...each).toFixed(2)}`,
			theirs.task.contender === 'axios' ? '0.9' : '20',
		];
	});
	console.log(table(['throughput, as a ratio', 'median', 'rounds', 'aim'], ratioRows));
}

async function main(): Promise<void> {
	const settings = readSettings();
	const entries = entriesFor(settings);
	console.log(
		`${settings.documents} documents of ${DOCUMENT_BYTES} bytes, batches of ${settings.batchSize}, ` +
			`${settings.rounds} rounds, server: ${settings.server}`,
	);
	if (!existsSync(NODES_BASE)) {
		console.log(
			'HTTP Request is left out: n8n-nodes-base is not installed. "npm start" installs it.',
		);
	}
	for (let round = 1; round <= settings.rounds; round++) {
		for (const entry of entries) {
			const measured = await measure(entry, settings.server);
			entry.rounds.push(measured);
			console.log(`round ${round}: ${entry.label}: ${throughput(measured).toFixed(0)} a second`);
		}
	}
	report(entries);
}

runBenchmark(main);
