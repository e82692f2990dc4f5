import { Readable } from 'node:stream';
import type { INodeExecutionData, INodeParameters } from 'n8n-workflow';

import { byId } from '../../test/engine/support/locators';
import { byName } from '../contenders/mapping';
import { platformWork } from '../platform/work';
import { makeDocuments, ndjson } from '../support/documents';
import { createEngine } from '../support/engine';
import { collectGarbage, highest, thinned, watchMemory } from '../support/memory';
import { serveTask } from '../support/processes';
import type { Target } from '../support/server';

/** What is to be submitted: a file of records, or items. */
export interface MemoryTask {
	target: Target;
	kind: 'file' | 'items';
	count: number;
	/** Whether the documents are processed and waited for, as by default. */
	processed?: boolean;
	/** How often all garbage is collected, beside what Node does, to see what is left. */
	collectEveryMs: number;
}

/** What came of it, in bytes. */
export interface MemoryMeasurement {
	stored: number;
	seconds: number;
	fileBytes: number;
	/** In use, after a full collection, when the node begins. */
	atBeginning: number;
	/** The most that a full collection has left. */
	live: number;
	collections: number;
	peakRss: number;
	rssBefore: number;
	everyMs: number;
	rss: number[];
}

const CURVE = 120;
const PROPERTY = 'data';

serveTask<MemoryTask>(async (task): Promise<MemoryMeasurement> => {
	const { target, kind, count, collectEveryMs } = task;
	const engine = await createEngine('xpertAi', target.credential);
	const file =
		kind === 'file'
			? await engine.storeFile(Readable.from(ndjson(count)), 'r.ndjson', 'application/x-ndjson')
			: undefined;
	const items: INodeExecutionData[] = file
		? [{ json: {}, binary: { [PROPERTY]: file } }]
		: makeDocuments(count, ITEM_BYTES).map((json) => ({ json }));
	const parameters: INodeParameters = {
		resource: 'document',
		operation: 'submit',
		knowledgebaseId: byId(target.knowledgebaseId),
		source: file ? 'records' : 'fields',
		...(file ? { binaryPropertyName: PROPERTY } : { documentFields: await byName() }),
		options: { afterStoring: task.processed ? 'wait' : 'nothing', output: 'summary' },
	};
	const atBeginning = kind === 'items' ? await heapWith(task, items) : 0;
	const everyMs = Math.max(20, count / 2000);
	const stopCollecting = collectFromTimeToTime(collectEveryMs);
	const { result, seconds, memory } = await watchMemory(
		async () => await engine.run(parameters, items),
		everyMs,
	);
	stopCollecting();
	const rss = thinned(memory.rss, CURVE);
	return {
		stored: Number(result[0]?.json[task.processed ? 'found' : 'stored']),
		seconds,
		fileBytes: Number(file?.bytes ?? 0),
		atBeginning,
		live: highest(memory.live),
		collections: memory.live.length,
		peakRss: memory.peakRss,
		rssBefore: memory.rssBefore,
		everyMs: (seconds * 1000) / rss.length,
		rss,
	};
});

/** Small, so that many fit into the memory of any machine. */
const ITEM_BYTES = 500;

/** The work is not to be kept up by more than this share of the time. */
const MOST_COLLECTING = 1 / 5;

/** Collects all garbage again and again; gives what ends that. */
function collectFromTimeToTime(everyMs: number): () => void {
	let timer = setTimeout(collect, everyMs);
	function collect() {
		const began = performance.now();
		collectGarbage();
		timer = setTimeout(collect, Math.max(everyMs, (performance.now() - began) / MOST_COLLECTING));
	}
	return () => clearTimeout(timer);
}

/** What is in use when a node has been given these items and has done nothing yet. */
async function heapWith({ target }: MemoryTask, items: INodeExecutionData[]): Promise<number> {
	const engine = await createEngine('platform', target.credential);
	platformWork.run = async () => {
		collectGarbage();
		return process.memoryUsage().heapUsed;
	};
	const [output] = await engine.run({}, items);
	return Number(output?.json.done);
}
