import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { countBy, range } from 'lodash';
import type { INodeExecutionData, INodeParameters } from 'n8n-workflow';

import { COPILOT_ID, startSandbox } from '../../../sandbox';
import { createEngine, type Engine } from './engine';
import { BY_NAME } from './ingest';
import { listen } from './listen';
import { byId } from './locators';

const MEGABYTE = 1024 * 1024;
const SAMPLE_MS = 10;
const COLLECT_MS = 2000;

export interface LoadTarget {
	baseUrl: string;
	accessToken: string;
	knowledgebaseId: string;
}

/** What an execution of Submit takes, and how much of it. */
export type Load = [of: keyof typeof LOADS, count: number];

/** What came of an execution, in megabytes where it is memory. */
export interface LoadReport {
	outcomes: Record<string, number>;
	summary: Record<string, unknown>;
	/** By how much all resident memory grew at most, also what is outside the heap. */
	rssGrowth: number;
	/** What was left in the heap at the end, and by how much that grew. */
	heap: number;
	heapGrowth: number;
	/** The most that a full collection left in the heap meanwhile; of records only. */
	live: number;
}

interface Submitted {
	items: INodeExecutionData[];
	parameters: INodeParameters;
}

const FILLER = 'Many words make a text. '.repeat(40);

const LOADS = {
	/** Items of 1 kB, each with a text of its own, as rows of a database have. */
	items: (_: Engine, count: number): Submitted => ({
		items: range(count).map((index) => ({
			json: { name: `document ${index}`, pages: [{ pageContent: `${index} ${FILLER}` }] },
		})),
		parameters: {
			source: 'fields',
			...BY_NAME,
			options: { afterStoring: 'nothing' },
			tuning: { batchSize: 500 },
		},
	}),
	texts: (_: Engine, count: number): Submitted => ({
		items: range(count).map((index) => ({
			json: { name: `text ${index}`, text: `${index} ${FILLER}` },
		})),
		parameters: { source: 'text', text: '={{ $json.text }}' },
	}),
	/** A file of so many megabytes, which was never whole in memory. */
	file: async (engine: Engine, count: number): Promise<Submitted> => {
		const piece = Buffer.alloc(MEGABYTE, 'A line of a long text.\n');
		const content = Readable.from(range(count).map(() => piece));
		const data = await engine.binary(content, `large ${count}.md`, 'text/markdown');
		if (data.id === undefined) throw new Error('n8n keeps files in memory here');
		return { items: [{ json: {}, binary: { data } }], parameters: { source: 'files' } };
	},
	/** Lines of one file, with Output: Summary. */
	records: async (engine: Engine, count: number): Promise<Submitted> => {
		const file = Readable.from(lines(count));
		const data = await engine.binary(file, `${count}.ndjson`, 'application/x-ndjson');
		const options = { output: 'summary' };
		const parameters = { source: 'records', documentKeyField: 'name', options };
		return { items: [{ json: {}, binary: { data } }], parameters };
	},
};

function* lines(count: number): Generator<string> {
	for (let index = 0; index < count; index++) {
		const record = { name: `record ${index}`, fileUrl: `https://files.example.com/${index}.md` };
		yield `${JSON.stringify(record)}\n`;
	}
}

/** In a process of its own: the loads, one after another, in n8n's engine with files on disk. */
export async function runLoads(run: { target: LoadTarget; loads: Load[] }): Promise<LoadReport[]> {
	const engine = await createEngine();
	const reports: LoadReport[] = [];
	for (const load of run.loads) reports.push(await runLoad(engine, run.target, load));
	return reports;
}

async function runLoad(
	engine: Engine,
	{ knowledgebaseId, ...credential }: LoadTarget,
	[of, count]: Load,
): Promise<LoadReport> {
	const { items, parameters } = await LOADS[of](engine, count);
	const before = await collected();
	let [rss, live] = [before.rss, 0];
	const sampling = setInterval(() => (rss = Math.max(rss, process.memoryUsage.rss())), SAMPLE_MS);
	const collecting = setInterval(() => {
		if (of !== 'records') return;
		global.gc?.();
		live = Math.max(live, process.memoryUsage().heapUsed);
	}, COLLECT_MS);
	const operation = { resource: 'document', operation: 'submit' };
	const { items: out, error } = await engine.run({
		parameters: { ...operation, knowledgebaseId: byId(knowledgebaseId), ...parameters },
		credential,
		items,
	});
	clearInterval(sampling);
	clearInterval(collecting);
	if (error) throw error;
	const { heapUsed } = await collected();
	return {
		outcomes: countBy(out, ({ json }) => json.outcome),
		summary: of === 'records' ? { ...out[0]?.json } : {},
		rssGrowth: (rss - before.rss) / MEGABYTE,
		heap: heapUsed / MEGABYTE,
		heapGrowth: (heapUsed - before.heapUsed) / MEGABYTE,
		live: live / MEGABYTE,
	};
}

async function collected(): Promise<NodeJS.MemoryUsage> {
	await nextTurn();
	global.gc?.();
	return process.memoryUsage();
}

/** In a process of its own: a sandbox that keeps next to nothing. */
export async function serveSandbox(): Promise<LoadTarget> {
	const sandbox = await startSandbox({ logBodies: false, keepContents: false, processMs: 0 });
	const { id } = sandbox.store.putKnowledgebase({ name: 'Load', copilotModelId: COPILOT_ID });
	return { baseUrl: sandbox.url, accessToken: sandbox.accessToken, knowledgebaseId: id };
}

/** What servers answer of a document beside its ID and status: about 1.3 kB. */
const REST = Object.fromEntries(range(30).map((index) => [`column${index}`, 'x'.repeat(30)]));

/** In a process of its own: a server that stores and processes at once and keeps but IDs. The sandbox takes minutes for what this does in seconds. */
export async function serveLightly(): Promise<LoadTarget> {
	const stored = new Set<string>();
	const server = createServer(async (request, response) => {
		const body = await text(request);
		response.setHeader('content-type', 'application/json');
		response.end(JSON.stringify(answerTo(request.url ?? '', body, stored)));
	});
	return {
		baseUrl: `http://127.0.0.1:${await listen(server)}`,
		accessToken: 'token-of-a-light-server',
		knowledgebaseId: '7b0e6c1a-3f52-4f7e-9a44-1d2c3b4a5f60',
	};
}

function answerTo(url: string, body: string, stored: Set<string>): object[] {
	const { pathname, searchParams } = new URL(url, 'http://localhost');
	if (pathname.endsWith('/bulk'))
		return (JSON.parse(body) as Array<{ id: string }>).map((document) => {
			stored.add(document.id);
			return { ...REST, ...document };
		});
	if (pathname.endsWith('/process'))
		return (JSON.parse(body) as string[]).map((id) => ({ id, status: 'running', ...REST }));
	// A source that was never remembered has no notes.
	const ids = (searchParams.get('ids') ?? '').split(',').filter((id) => stored.has(id));
	return ids.map((id) => ({ id, status: 'finish', progress: 100, processMsg: '' }));
}
