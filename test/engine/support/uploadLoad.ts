import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { countBy, range } from 'lodash';
import type { INodeExecutionData, INodeParameters } from 'n8n-workflow';

import { createEngine } from './engine';
import type { Engine } from './engine';
import type { LoadTarget } from './hostileLoad';
import { byId } from './locators';

const MEGABYTE = 1024 * 1024;
const SAMPLE_MS = 10;

/** So many texts of 1 kB, or one file of so many megabytes. */
export type UploadLoad = { texts: number } | { megabytes: number };

/** Loads that are uploaded, stored, processed and waited for, one after another. */
export interface UploadLoads {
	target: LoadTarget;
	loads: UploadLoad[];
}

/** What came of a load, and by how much memory grew in it at most, in megabytes. */
export interface UploadReport {
	/** How many documents ended how. */
	processing: Record<string, number>;
	/** Resident memory: all there is, also what is outside the heap. */
	rssGrowth: number;
	/** What was left in the heap at the end. */
	heapGrowth: number;
}

/** What came of records from a file, of which only a summary is asked for. */
export interface RecordsReport {
	found: number;
	/** Named as not stored, or not processed. */
	failed: number;
	notes: unknown;
	/** The most that a full collection left in the heap meanwhile, in megabytes. */
	live: number;
}

/** In a process of its own: records from a file on disk, with what Submit is set to at first and Output: Summary. */
export async function runRecords({
	target,
	count,
}: {
	target: LoadTarget;
	count: number;
}): Promise<RecordsReport> {
	const engine = await createEngine();
	const { knowledgebaseId, ...credential } = target;
	const file = Readable.from(lines(count));
	const data = await engine.binary(file, `${count}.ndjson`, 'application/x-ndjson');
	let live = 0;
	const watch = setInterval(() => {
		global.gc?.();
		live = Math.max(live, process.memoryUsage().heapUsed);
	}, COLLECT_MS);
	const { items, error } = await engine.run({
		parameters: {
			resource: 'document',
			operation: 'submit',
			knowledgebaseId: byId(knowledgebaseId),
			source: 'records',
			documentSettings: { documentKeyField: 'name' },
			options: { output: 'summary' },
		},
		credential,
		items: [{ json: {}, binary: { data } }],
	});
	clearInterval(watch);
	if (error) throw error;
	const { found, failed, notes } = items[0]?.json ?? {};
	return {
		found: Number(found),
		failed: (failed as unknown[]).length,
		notes,
		live: live / MEGABYTE,
	};
}

const COLLECT_MS = 2000;

/** One line after another, none of which is kept. */
function* lines(count: number): Generator<string> {
	for (let index = 0; index < count; index++) {
		const record = { name: `record ${index}`, fileUrl: `https://files.example.com/${index}.md` };
		yield `${JSON.stringify(record)}\n`;
	}
}

/** In a process of its own: the loads, in n8n's engine with files on disk. */
export async function runUploads({ target, loads }: UploadLoads): Promise<UploadReport[]> {
	const engine = await createEngine();
	const reports: UploadReport[] = [];
	for (const load of loads) reports.push(await runUpload(engine, target, load));
	return reports;
}

async function runUpload(
	engine: Engine,
	{ knowledgebaseId, ...credential }: LoadTarget,
	load: UploadLoad,
): Promise<UploadReport> {
	const { items, parameters } = 'texts' in load ? texts(load) : await oneFile(engine, load);
	const before = await settled();
	let peak = before.rss;
	const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), SAMPLE_MS);
	const { items: out, error } = await engine.run({
		parameters: {
			resource: 'document',
			operation: 'submit',
			knowledgebaseId: byId(knowledgebaseId),
			...parameters,
		},
		credential,
		items,
	});
	clearInterval(watch);
	if (error) throw error;
	const { heapUsed } = await settled();
	return {
		processing: countBy(out, ({ json }) => json.processing),
		rssGrowth: (peak - before.rss) / MEGABYTE,
		heapGrowth: (heapUsed - before.heapUsed) / MEGABYTE,
	};
}

/** Memory when nothing is left that could be let go of. */
async function settled(): Promise<NodeJS.MemoryUsage> {
	await nextTurn();
	global.gc?.();
	return process.memoryUsage();
}

interface Submitted {
	items: INodeExecutionData[];
	parameters: INodeParameters;
}

function texts(load: { texts: number }): Submitted {
	const filler = 'Many words make a text. '.repeat(40);
	return {
		items: range(load.texts).map((index) => ({
			json: { name: `text ${index}`, text: `${index} ${filler}` },
		})),
		parameters: { source: 'text', text: '={{ $json.text }}' },
	};
}

/** A file on n8n's disk, which was never whole in memory. */
async function oneFile(engine: Engine, { megabytes }: { megabytes: number }): Promise<Submitted> {
	const piece = Buffer.alloc(MEGABYTE, 'A line of a long text.\n');
	const content = Readable.from(range(megabytes).map(() => piece));
	const data = await engine.binary(content, `large ${megabytes}.md`, 'text/markdown');
	if (data.id === undefined) throw new Error('n8n keeps files in memory here');
	return { items: [{ json: {}, binary: { data } }], parameters: { source: 'files' } };
}
