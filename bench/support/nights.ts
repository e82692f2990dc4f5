import { Readable } from 'node:stream';
import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { projectRoot } from '../../host/paths';
import { BY_NAME } from '../../test/engine/support/ingest';
import { byId } from '../../test/engine/support/locators';
import { type NodeEngine, createNodeEngine } from '../../test/engine/support/nodeEngine';
import { startBareServer } from './bareServer';
import { type Cost, runInChild, serveTask, timed } from './processes';
import { type RecordShape, ndjson, records } from './records';
import type { Arrived, Server, Target } from './server';

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

/** What a night took, and what has arrived at the server. */
export type Measured = Cost & Arrived;

/** Runs a night in a process of its own, with these options of Node. */
export async function measure(
	server: Server,
	night: Night,
	execArgv?: string[],
): Promise<Measured> {
	await server.ask('clear');
	const task: NightTask = { ...night, target: server.target };
	const result = await runInChild<Cost>(__filename, task, execArgv);
	return { ...result, ...(await server.ask('arrived')) };
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

/** In a process of its own, after a small source on a server in this process that has all code compiled. */
async function runInProcess({ target, ...night }: NightTask): Promise<Cost> {
	const engine = await createNodeEngine(projectRoot);
	const warmUp = await startBareServer();
	await runNight(engine, warmUp.target, { ...night, documents: WARM_UP });
	warmUp.close();
	return await runNight(engine, target, night);
}

if (require.main === module) serveTask(runInProcess);
