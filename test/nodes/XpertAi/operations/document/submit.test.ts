import type { IDataObject, IExecuteFunctions, NodeExecutionHint } from 'n8n-workflow';

import { submit } from '../../../../../nodes/XpertAi/operations/document/submit';
import { itemOf, unconnected } from '../../../support/context';
import { BulkServer } from '../../ingest/support/bulkServer';

const KNOWLEDGEBASE_ID = 'e0000000-0000-4000-8000-000000000001';

/** Runs Submit outside of n8n, on a server in memory. */
async function run(mode: 'manual' | 'trigger', options: IDataObject) {
	const hints: NodeExecutionHint[] = [];
	const progress: string[] = [];
	const server = new BulkServer();
	const parameters = {
		knowledgebaseId: KNOWLEDGEBASE_ID,
		source: 'json',
		jsonBody: [{ key: 1 }, { key: 2 }],
		options: { afterStoring: 'nothing', ...options },
	};
	const methods = {
		getInputData: () => [{ json: {} }],
		getMode: () => mode,
		getExecutionCancelSignal: () => undefined,
		continueOnFail: () => false,
		addExecutionHints: (...added) => void hints.push(...added),
		sendMessageToUI: (message: unknown) => void progress.push(String(message)),
	} as Partial<IExecuteFunctions>;
	const item = itemOf(parameters, {
		fields: submit.fields,
		methods,
		connection: { ...unconnected, send: server.send },
	});
	const { context } = item;
	const items = await submit.execute({ context, items: [item] });
	return { items, server, messages: hints.map(({ message }) => message), progress };
}

describe('the hints of Submit', () => {
	it('come with progress in the browser while a manual run works, and only then', async () => {
		expect((await run('manual', {})).progress).toEqual([
			expect.stringMatching(/^Documents: \d stored/),
		]);
		expect((await run('trigger', {})).progress).toEqual([]);
	});
});

describe('items are read', () => {
	/** What is read and sent, in its order, when the second item is no document. */
	async function course(mayContinue: boolean): Promise<string[]> {
		const log: string[] = [];
		const server = new BulkServer();
		const inputs = ['a', '', 'c'].map((name, index) => ({
			json: Object.defineProperty({}, 'name', {
				enumerable: true,
				get: () => {
					log.push(`read ${index}`);
					return name;
				},
			}) as IDataObject,
		}));
		const parameters = {
			knowledgebaseId: KNOWLEDGEBASE_ID,
			source: 'fields',
			documentFields: { mappingMode: 'autoMapInputData' },
			pages: {},
			chunks: {},
			options: { afterStoring: 'nothing', batchSize: 1, concurrency: 1 },
		};
		const methods = {
			getInputData: () => inputs,
			getMode: () => 'trigger',
			getExecutionCancelSignal: () => undefined,
			continueOnFail: () => mayContinue,
			addExecutionHints: () => undefined,
		} as Partial<IExecuteFunctions>;
		const send: typeof server.send = async (request) => {
			log.push('sent');
			return await server.send(request);
		};
		const connection = { ...unconnected, send };
		const [first, ...others] = inputs.map((_, index) =>
			itemOf(parameters, { fields: submit.fields, methods, index, connection }),
		);
		if (!first) throw new Error('the test has no items');
		await submit
			.execute({ context: first.context, items: [first, ...others] })
			.catch(() => log.push('ended'));
		return [...new Set(log)];
	}

	it('all of them before anything is sent, when a bad one ends the run', async () => {
		expect(await course(false)).toEqual(['read 0', 'read 1', 'ended']);
	});

	it('one by one while others are sent, when the run goes on', async () => {
		const log = await course(true);
		expect(log.indexOf('sent')).toBeGreaterThan(log.indexOf('read 0'));
		expect(log).toContain('read 2');
		expect(log).not.toContain('ended');
	});
});
