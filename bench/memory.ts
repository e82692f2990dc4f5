import path from 'node:path';
import { parseArgs } from 'node:util';

import type { FileMeasurement, FileTask } from './fileChild';
import { runInChild } from './support/processes';
import { startServer } from './support/server';
import { SHARED_OPTIONS, readShared, runBenchmark, wholes } from './support/settings';
import type { SharedSettings } from './support/settings';
import { chart, megabytes, table } from './support/table';

const CHART_COLUMNS = 60;

interface Settings extends SharedSettings {
	records: number[];
}

function readSettings(): Settings {
	const { values } = parseArgs({
		options: {
			records: { type: 'string', default: '10000,100000,1000000' },
			...SHARED_OPTIONS,
		},
	});
	return { ...readShared(values), records: wholes('--records', values.records) };
}

/** Streams a file of so many records, engine and server both in fresh processes. */
async function measure(records: number, settings: Settings): Promise<FileMeasurement> {
	const server = await startServer(settings.server);
	try {
		const task: FileTask = { records, batchSize: settings.batchSize, target: server.target };
		const module = path.join(__dirname, 'fileChild.js');
		const measurement = await runInChild<FileMeasurement>(module, task, {
			N8N_DEFAULT_BINARY_DATA_MODE: 'filesystem',
		});
		const arrived = await server.arrived();
		if (measurement.stored !== records || arrived.documents < records)
			throw new Error(`The file has ${records} records, ${measurement.stored} were stored`);
		return measurement;
	} finally {
		await server.stop();
	}
}

async function main(): Promise<void> {
	const settings = readSettings();
	console.log(
		`Document: Submit from a file (NDJSON, file-system binary data), batches of ${settings.batchSize}, ` +
			`server: ${settings.server}\n`,
	);
	const all: Array<FileMeasurement & { records: number }> = [];
	for (const records of settings.records) {
		all.push({ records, ...(await measure(records, settings)) });
		console.log(`${records} records are done`);
	}
	const highest = Math.max(...all.map(({ memory }) => memory.peakRss));
	console.log(`\nResident memory over time, each chart from 0 to ${megabytes(highest)}:`);
	for (const { records, seconds, memory } of all) {
		const rss = memory.samples.map((sample) => sample.rss);
		console.log(`${records} records, ${seconds.toFixed(0)} s`);
		console.log(`|${chart(rss, highest, CHART_COLUMNS)}|\n`);
	}
	const rows = all.map(({ records, fileBytes, seconds, memory }) => [
		String(records),
		megabytes(fileBytes),
		megabytes(memory.rssBefore),
		megabytes(memory.peakRss),
		megabytes(memory.peakHeap),
		memory.peakLive === undefined ? '-' : megabytes(memory.peakLive),
		(records / seconds).toFixed(0),
	]);
	const header = [
		'records',
		'file',
		'RSS before',
		'peak RSS',
		'peak heap',
		'live heap*',
		'a second',
	];
	console.log(table(header, rows));
	console.log('* the most that was left after a full garbage collection');
}

runBenchmark(main);
