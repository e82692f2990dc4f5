import { Readable } from 'node:stream';
import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { projectRoot } from '../../host/paths';
import { BY_NAME } from '../../test/engine/support/ingest';
import { byId } from '../../test/engine/support/locators';
import { type NodeEngine, createNodeEngine } from '../../test/engine/support/nodeEngine';
import { startBareServer } from '../support/bareServer';
import { type Part, type Row, bounded, compared, exponent, figure } from '../report';
import { type Cost, runInChild, serveTask, timed } from '../support/processes';
import { type RecordShape, ndjson, records } from '../support/records';
import { type Arrived, type Server, type Target, onServer } from '../support/server';

/** A run of Document: Submit over a source. */
export interface Night extends RecordShape {
	documents: number;
	/** Records of a file, or an item each. */
	source: 'records' | 'fields';
	mode: 'all' | 'changed' | 'mirror';
	/** Whether to process documents and wait for it, as Submit does unless it is told otherwise. */
	processes: boolean;
	/** Documents a request, if not as many as Submit sends unless it is told otherwise. */
	batchSize?: number;
}

interface NightTask extends Night {
	target: Target;
}

interface NightResult extends Cost {
	/** The most resident memory, in bytes. */
	peakRss: number;
}

/** What a night took, and what has arrived at the server. */
type Measured = NightResult & Arrived;

const KILOBYTE = { source: 'records', processes: true, textLength: 880 } as const;

/** Nights of a source, one after another on one server. */
const NIGHTS = {
	'without a memory': { ...KILOBYTE, mode: 'all' },
	'first load': { ...KILOBYTE, mode: 'changed' },
	'unchanged night': { ...KILOBYTE, mode: 'changed' },
	'1 % changed': { ...KILOBYTE, mode: 'changed', changedIn: 100 },
} satisfies Record<string, Omit<Night, 'documents'>>;

type NightName = keyof typeof NIGHTS;

const REMEMBERED: NightName[] = ['first load', 'unchanged night', '1 % changed'];

/** What large sources take: of time, requests, bytes and memory. */
export const sourcesPart: Part = {
	name: 'sources',
	measure: async ({ quick }) => {
		const sizes = quick
			? { small: 500, middle: 4000, large: 8000, most: 20_000 }
			: { small: 8000, middle: 64_000, large: 500_000, most: 1_000_000 };
		const small = await nights(sizes.small);
		const middle = await nights(sizes.middle);
		const large = await nights(sizes.large);
		const items = [await itemsOf(sizes.small), await itemsOf(sizes.middle)] as const;
		return [
			...noteRows(sizes.middle, middle, sizes.large, large),
			...growthRows(
				[sizes.small, sizes.middle],
				[...REMEMBERED.map((name) => [small[name], middle[name]] as const), items],
			),
			await heapRow('changed', 128, sizes.most),
			await heapRow('mirror', 192, sizes.most),
		];
	},
};

type Nights = Record<NightName, Measured>;

async function nights(documents: number): Promise<Nights> {
	return await onServer('bare', async (server) => {
		const measured: Partial<Nights> = {};
		for (const name of Object.keys(NIGHTS) as NightName[])
			measured[name] = await measure(server, { documents, ...NIGHTS[name] });
		return measured as Nights;
	});
}

const itemsOf = async (documents: number) =>
	await onServer('bare', async (server) => {
		const night = { ...KILOBYTE, source: 'fields', mode: 'all', processes: false } as const;
		return await measure(server, { documents, ...night });
	});

async function measure(server: Server, night: Night, execArgv?: string[]): Promise<Measured> {
	await server.ask('clear');
	const task: NightTask = { ...night, target: server.target };
	const result = await runInChild<NightResult>(__filename, task, execArgv);
	return { ...result, ...(await server.ask('arrived')) };
}

/** What it costs to remember a source. */
function noteRows(middle: number, ofMiddle: Nights, large: number, ofLarge: Nights): Row[] {
	const noteBytes = (measured: Nights, name: NightName) => measured[name].noteBytes;
	return [
		compared(
			`first load of ${figure(large)}, time`,
			[ofLarge['first load'].seconds],
			['without a memory', [ofLarge['without a memory'].seconds]],
			{ digits: 1, unit: ' s', most: 1.5 },
		),
		bounded(
			`first load of ${figure(large)}, notes a document`,
			[noteBytes(ofLarge, 'first load') / large],
			{ most: 95 },
			{ unit: ' bytes' },
		),
		bounded(
			`unchanged night of ${figure(middle)}, notes`,
			[noteBytes(ofMiddle, 'unchanged night')],
			{ most: 1300 },
			{ unit: ' bytes' },
		),
		bounded(
			`${figure(large)} with 1 % changed, notes`,
			[noteBytes(ofLarge, '1 % changed') / 1e6],
			{ most: 16 },
			{ digits: 1, unit: ' MB' },
		),
	];
}

/** How costs grow between two sizes, for each kind of work. */
function growthRows(
	sizes: [number, number],
	works: Array<readonly [small: GrowthCost, middle: GrowthCost]>,
): Row[] {
	const row = (what: string, costs: Array<keyof GrowthCost>, most: number) => {
		const exponents = works.flatMap(([small, middle]) =>
			costs.map((cost) => exponent(sizes, [small[cost], middle[cost]])),
		);
		const between = `${figure(sizes[0])} to ${figure(sizes[1])} documents`;
		return bounded(`${what}, ${between}: exponent`, exponents, { most }, { digits: 2 });
	};
	return [
		row('requests and bytes', ['requests', 'bytes'], 1.02),
		row('processor time', ['cpuSeconds'], 1.1),
	];
}

type GrowthCost = Pick<Measured, 'requests' | 'bytes' | 'cpuSeconds'>;

/** A source that is far larger than the heap. */
async function heapRow(mode: 'changed' | 'mirror', megabytes: number, documents: number) {
	const label = mode === 'changed' ? 'Send New and Changed' : 'Mirror the Source';
	const what = `${figure(documents)} records of 200 bytes, ${label}, a heap of ${megabytes} MB`;
	const night: Night = { documents, mode, source: 'records', processes: false, textLength: 48 };
	const limit = [`--max-old-space-size=${megabytes}`];
	const aim = 'passes';
	try {
		const { peakRss } = await onServer('bare', async (server) => {
			return await measure(server, night, limit);
		});
		const measured = `passes, ${figure(peakRss / 2 ** 20)} MB resident`;
		return { what, measured, aim, met: true };
	} catch (error) {
		return { what, measured: String(error), aim, met: false };
	}
}

/** Runs a night in this process. @throws Error if not every document ends as it should */
export async function runNight(engine: NodeEngine, target: Target, night: Night): Promise<Cost> {
	const { documents, source, mode, processes, batchSize } = night;
	const options = {
		output: 'summary',
		...(processes ? {} : { afterStoring: 'nothing' }),
	};
	const parameters: INodeParameters = {
		resource: 'document',
		operation: 'submit',
		source,
		mode,
		options,
		tuning: batchSize === undefined ? {} : { batchSize },
		knowledgebaseId: byId(target.knowledgebaseId),
		...(source === 'records'
			? { documentKeyField: 'filePath' }
			: { documentKey: '={{ $json.filePath }}' }),
		...(mode === 'all' ? {} : { sourceName: 'Benchmark' }),
		...(source === 'records' ? { binaryPropertyName: 'data' } : BY_NAME),
	};
	const items = source === 'records' ? [await fileOf(engine, night)] : itemsWith(night);
	const { result, ...cost } = await timed(
		async () => await engine.run({ parameters, credential: target.credential, items }),
	);
	if (result.error) throw result.error;
	const summary: IDataObject = result.items[0]?.json ?? {};
	const done = Number(summary[processes ? 'found' : 'stored']) + Number(summary.unchanged ?? 0);
	if (done !== documents) throw new Error(`Of ${documents} documents: ${JSON.stringify(summary)}`);
	return cost;
}

async function fileOf(engine: NodeEngine, { documents, ...shape }: Night) {
	const content = Readable.from(ndjson(documents, shape));
	return {
		json: {},
		binary: { data: await engine.binary(content, 'r.ndjson', 'application/x-ndjson') },
	};
}

const itemsWith = ({ documents, ...shape }: Night) =>
	records(documents, shape).map((json) => ({ json }));

const WARM_UP = 1000;
const SAMPLE_MS = 100;

/** In a process of its own, after a small source on a server in this process that has all code compiled. */
async function runInProcess({ target, ...night }: NightTask): Promise<NightResult> {
	const engine = await createNodeEngine(projectRoot);
	const warmUp = await startBareServer();
	await runNight(engine, warmUp.target, { ...night, documents: WARM_UP });
	warmUp.close();
	let peakRss = 0;
	const sampler = setInterval(() => {
		peakRss = Math.max(peakRss, process.memoryUsage.rss());
	}, SAMPLE_MS);
	const cost = await runNight(engine, target, night);
	clearInterval(sampler);
	return { ...cost, peakRss };
}

if (require.main === module) serveTask(runInProcess);
