import type { IDataObject, IExecuteFunctions, NodeExecutionHint } from 'n8n-workflow';

import { submit } from '../../../../../nodes/XpertAi/operations/document/submit';
import { itemOf } from '../../../support/context';
import { BulkServer } from '../../ingest/support/bulkServer';

/** Runs Submit outside of n8n, on a server in memory. */
async function run(mode: 'manual' | 'trigger', options: IDataObject) {
	const hints: NodeExecutionHint[] = [];
	const progress: string[] = [];
	const server = new BulkServer();
	const parameters = {
		knowledgebaseId: 'kb',
		source: 'json',
		afterStoring: 'nothing',
		jsonBody: [{ key: 1 }, { key: 2 }],
		options,
	};
	const methods = {
		getInputData: () => [{ json: {} }],
		getMode: () => mode,
		getExecutionCancelSignal: () => undefined,
		continueOnFail: () => false,
		addExecutionHints: (...added) => void hints.push(...added),
		sendMessageToUI: (message: unknown) => void progress.push(String(message)),
	} as Partial<IExecuteFunctions>;
	const item = itemOf(parameters, { fields: submit.fields, methods });
	const { context } = item;
	const items = await submit.execute({ context, send: server.send, items: [item] });
	return { items, server, messages: hints.map(({ message }) => message), progress };
}

describe('the hints of Submit', () => {
	it('come with progress in the browser while a manual run works, and only then', async () => {
		expect((await run('manual', {})).progress).toEqual([
			expect.stringMatching(/^Documents: \d stored/),
		]);
		expect((await run('trigger', {})).progress).toEqual([]);
	});

	it('give the summary in a line', async () => {
		const { messages, items, server } = await run('trigger', {});
		expect(messages[0]).toBe('Documents: 2 stored (1 batch).');
		expect(items).toHaveLength(2);
		expect(server.rows).toHaveLength(2);
	});
});
