import { Readable } from 'node:stream';

import { byId } from '../../test/engine/support/locators';
import { ndjson } from '../support/documents';
import { createEngine } from '../support/engine';
import { collectGarbage, highest, watchMemory } from '../support/memory';
import { serveTask } from '../support/processes';
import type { Target } from '../support/server';

/** A file of records that is to be submitted. */
export interface MemoryTask {
	target: Target;
	count: number;
	/** How often all garbage is collected, beside what Node does, to see what is left. */
	collectEveryMs: number;
}

/** What came of it, in bytes. */
export interface MemoryMeasurement {
	stored: number;
	seconds: number;
	fileBytes: number;
	/** The most that a full collection has left. */
	live: number;
	collections: number;
	peakRss: number;
	rssBefore: number;
}

const PROPERTY = 'data';

serveTask<MemoryTask>(async (task): Promise<MemoryMeasurement> => {
	const { target, count, collectEveryMs } = task;
	const engine = await createEngine('xpertAi', target.credential);
	const content = Readable.from(ndjson(count));
	const file = await engine.storeFile(content, 'r.ndjson', 'application/x-ndjson');
	const items = [{ json: {}, binary: { [PROPERTY]: file } }];
	const parameters = {
		resource: 'document',
		operation: 'submit',
		knowledgebaseId: byId(target.knowledgebaseId),
		source: 'records',
		binaryPropertyName: PROPERTY,
		options: { afterStoring: 'nothing', output: 'summary' },
	};
	const everyMs = Math.max(20, count / 2000);
	const stopCollecting = collectFromTimeToTime(collectEveryMs);
	const { result, seconds, memory } = await watchMemory(
		async () => await engine.run(parameters, items),
		everyMs,
	);
	stopCollecting();
	return {
		stored: Number(result[0]?.json.stored),
		seconds,
		fileBytes: Number(file.bytes ?? 0),
		live: highest(memory.live),
		collections: memory.live.length,
		peakRss: memory.peakRss,
		rssBefore: memory.rssBefore,
	};
});

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
