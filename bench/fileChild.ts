import { Readable } from 'node:stream';
import type { INodeParameters } from 'n8n-workflow';

import { byId } from '../test/engine/support/locators';
import { ndjson } from './support/documents';
import { createEngine } from './support/engine';
import { watchMemory } from './support/memory';
import type { MemoryCurve } from './support/memory';
import { serveTask } from './support/processes';
import type { Target } from './support/server';

/** A file to be submitted. */
export interface FileTask {
	target: Target;
	records: number;
	batchSize: number;
}

/** What came of it. */
export interface FileMeasurement {
	stored: number;
	fileBytes: number;
	seconds: number;
	memory: MemoryCurve;
}

const SAMPLE_MS = 100;
const PROPERTY = 'data';

serveTask<FileTask>(async ({ target, records, batchSize }): Promise<FileMeasurement> => {
	const engine = await createEngine('xpertAi', target.credential);
	const parameters: INodeParameters = {
		resource: 'document',
		operation: 'submit',
		afterStoring: 'nothing',
		knowledgebaseId: byId(target.knowledgebaseId),
		source: 'records',
		binaryPropertyName: PROPERTY,
		output: 'summary',
		options: { batchSize },
	};
	const file = await engine.storeFile(
		Readable.from(ndjson(records)),
		'records.ndjson',
		'application/x-ndjson',
	);
	const { result, seconds, memory } = await watchMemory(
		async () => await engine.run(parameters, [{ json: {}, binary: { [PROPERTY]: file } }]),
		SAMPLE_MS,
	);
	const { stored } = result[0]?.json ?? {};
	return { stored: Number(stored), fileBytes: Number(file.bytes), seconds, memory };
});
