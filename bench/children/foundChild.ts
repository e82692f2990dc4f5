import { setTimeout as sleep } from 'node:timers/promises';
import type { IDataObject, INodeExecutionData, INodeParameters } from 'n8n-workflow';

import { byId } from '../../test/engine/support/locators';
import { byName } from '../contenders/mapping';
import { textOf } from '../support/documents';
import { createEngine } from '../support/engine';
import type { Engine } from '../support/engine';
import { watchMemory } from '../support/memory';
import { serveTask } from '../support/processes';
import type { Target } from '../support/server';

/** Files that are to be found. */
export interface FoundTask {
	target: Target;
	contender: 'submit' | 'steps';
	files: number;
	fileBytes: number;
}

/** What came of it. */
export interface FoundMeasurement {
	seconds: number;
	cpuSeconds: number;
	found: number;
}

const SAMPLE_MS = 1000;
const ASKED_EVERY_MS = 1000;

serveTask<FoundTask>(async (task): Promise<FoundMeasurement> => {
	const engine = await createEngine('xpertAi', task.target.credential);
	const files = await filesOf(engine, task);
	const work = task.contender === 'submit' ? bySubmit : byStep;
	const { result, seconds, cpuSeconds } = await watchMemory(
		async () => await work(engine, task, files),
		SAMPLE_MS,
	);
	return { seconds, cpuSeconds, found: result };
});

async function filesOf(engine: Engine, { files, fileBytes }: FoundTask) {
	const items: INodeExecutionData[] = [];
	for (let index = 0; index < files; index += 1) {
		const text = Buffer.from(`File ${index}. ${textOf(fileBytes)}`.slice(0, fileBytes));
		const data = await engine.storeFile(text, `file-${index}.md`, 'text/markdown');
		items.push({ json: {}, binary: { data } });
	}
	return items;
}

/** Document: Submit, as it is when it is added to a workflow. */
async function bySubmit(engine: Engine, { target }: FoundTask, files: INodeExecutionData[]) {
	const output = await engine.run(
		{
			resource: 'document',
			operation: 'submit',
			source: 'files',
			knowledgebaseId: byId(target.knowledgebaseId),
		},
		files,
	);
	return output.filter(({ json }) => json.processing === 'finish').length;
}

/** The same with a node for each step, one after another. */
async function byStep(engine: Engine, { target }: FoundTask, files: INodeExecutionData[]) {
	const knowledgebaseId = byId(target.knowledgebaseId);
	const step = async (parameters: INodeParameters, items: INodeExecutionData[]) =>
		await engine.run(parameters, items);
	const uploaded = await step({ resource: 'file', operation: 'create' }, files);
	const stored = await step(
		{
			resource: 'document',
			operation: 'submit',
			source: 'fields',
			options: { afterStoring: 'nothing' },
			knowledgebaseId,
			documentFields: await byName(),
		},
		uploaded.map(({ json }) => ({ json: documentOf(json) })),
	);
	const ids = stored.map(({ json }) => String(json.id)).join(',');
	const one = [{ json: {} }];
	const ofAll = { resource: 'document', knowledgebaseId, documentIds: ids };
	await step({ ...ofAll, operation: 'process' }, one);
	for (;;) {
		const statuses = await step({ ...ofAll, operation: 'getStatus' }, one);
		const ended = statuses.filter(({ json }) => ENDED.includes(String(json.status)));
		if (ended.length === statuses.length)
			return statuses.filter(({ json }) => json.status === 'finish').length;
		await sleep(ASKED_EVERY_MS);
	}
}

const ENDED = ['finish', 'error', 'cancel'];

const documentOf = ({ id, originalName, url, size, mimetype }: IDataObject): IDataObject => ({
	storageFileId: id,
	name: originalName,
	fileUrl: url,
	size,
	mimeType: mimetype,
	type: 'md',
});
