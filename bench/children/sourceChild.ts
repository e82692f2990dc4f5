import { Readable } from 'node:stream';

import { byId } from '../../test/engine/support/locators';
import { ndjson, textOf } from '../support/documents';
import { createEngine } from '../support/engine';
import { watchMemory } from '../support/memory';
import { serveTask } from '../support/processes';
import type { Target } from '../support/server';

/** A night of a source that is a file of records. */
export interface SourceTask {
	target: Target;
	documents: number;
	/** Whether unchanged ones are skipped; else all are sent and processed, and nothing is remembered. */
	remembers: boolean;
	/** One in so many has changed since the first night. */
	changedIn?: number;
}

/** What came of it. */
export interface SourceMeasurement {
	seconds: number;
	cpuSeconds: number;
	found: number;
	unchanged: number;
}

const SAMPLE_MS = 1000;
const PROPERTY = 'data';

/** Makes records of about 1 KB. */
const TEXT = textOf(880);

serveTask<SourceTask>(async (task): Promise<SourceMeasurement> => {
	const { target, documents, remembers, changedIn } = task;
	const engine = await createEngine('xpertAi', target.credential);
	const content = Readable.from(ndjson(documents, { changedIn, text: TEXT }));
	const file = await engine.storeFile(content, 'r.ndjson', 'application/x-ndjson');
	const parameters = {
		resource: 'document',
		operation: 'submit',
		knowledgebaseId: byId(target.knowledgebaseId),
		source: 'records',
		binaryPropertyName: PROPERTY,
		...(remembers ? { mode: 'changed', sourceName: 'Benchmark' } : {}),
		options: { output: 'summary' },
	};
	const items = [{ json: {}, binary: { [PROPERTY]: file } }];
	const { result, seconds, cpuSeconds } = await watchMemory(
		async () => await engine.run(parameters, items),
		SAMPLE_MS,
	);
	const { found, unchanged = 0 } = result[0]?.json ?? {};
	return { seconds, cpuSeconds, found: Number(found), unchanged: Number(unchanged) };
});
