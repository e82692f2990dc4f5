import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { projectRoot } from '../../host/paths';
import { BY_NAME } from '../../test/engine/support/ingest';
import { byId } from '../../test/engine/support/locators';
import { createNodeEngine } from '../../test/engine/support/nodeEngine';
import { type Part, compared, figure } from '../report';
import { type Cost, runInChild, serveTask, timed } from '../support/processes';
import { type Target, onServer } from '../support/server';

/** A night of a source in which the versions of the first ten documents say this. */
interface ChangesTask {
	target: Target;
	documents: number;
	night: string;
	/** Whether Find Changes stands before the downloads. */
	finds: boolean;
}

const CHANGED = 10;

/** What it saves to download only what changed. */
export const changesPart: Part = {
	name: 'changes',
	measure: async ({ quick }) => {
		const documents = quick ? 1000 : 10_000;
		return await onServer('bare', async (server) => {
			const measured = async (night: string, finds: boolean) => {
				await server.ask('clear');
				const task: ChangesTask = { target: server.target, documents, night, finds };
				const cost = await runInChild<Cost>(__filename, task);
				return { ...cost, ...(await server.ask('arrived')) };
			};
			await measured('first', true);
			const [found, all] = [await measured('second', true), await measured('third', false)];
			const what = `time of a night with ${CHANGED} of ${figure(documents)} changed, of which Find Changes has only the changed ones downloaded`;
			const beside = 'all downloaded, without Find Changes';
			return [compared(what, [found.seconds], [beside, [all.seconds]], { most: 1 })];
		});
	},
};

const SOURCE = { sourceName: 'Benchmark', documentKey: '={{ $json.name }}' };
const VERSION = { documentVersion: '={{ $json.metadata.version }}' };

/** In a process of its own: finds changes, downloads, and submits. */
async function runInProcess({ target, documents, night, finds }: ChangesTask): Promise<Cost> {
	const { credential, knowledgebaseId } = target;
	const engine = await createNodeEngine(projectRoot);
	const run = async (parameters: INodeParameters, listed: IDataObject[]) => {
		const fixed = { resource: 'document', knowledgebaseId: byId(knowledgebaseId), ...SOURCE };
		const items = listed.map((json) => ({ json }));
		const result = await engine.run({
			parameters: { ...fixed, ...parameters },
			credential,
			items,
		});
		if (result.error) throw result.error;
		return result.items.map(({ json }) => json);
	};
	const listing = Array.from({ length: documents }, (_, at) => ({
		name: `document-${at}.txt`,
		metadata: { version: at < CHANGED ? night : 'same' },
	}));
	const { result, ...cost } = await timed(async () => {
		const toFetch = finds ? await run({ operation: 'findChanges', ...VERSION }, listing) : listing;
		for (const document of toFetch) {
			const response = await fetch(`${credential.baseUrl}/download`);
			Object.assign(document, {
				metadata: { ...Object(document.metadata), text: await response.json() },
			});
		}
		const options = { output: 'summary', afterStoring: 'nothing' };
		const submit = { operation: 'submit', source: 'fields', mode: 'changed', ...BY_NAME, options };
		const [summary] = await run({ ...submit, documentSettings: VERSION }, toFetch);
		return summary;
	});
	const stored = night === 'first' ? documents : CHANGED;
	if (result?.stored !== stored) throw new Error(`Not ${stored} stored: ${JSON.stringify(result)}`);
	return cost;
}

if (require.main === module) serveTask(runInProcess);
