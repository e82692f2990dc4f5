import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { submit } from 'nodes/XpertAi/operations/document/submit';
import type { ApiRequest } from 'nodes/XpertAi/transport/request';
import { itemOf, unconnected } from '../../../support/context';
import { type RawSend, parsing } from '../../../support/send';
import { BulkServer } from '../../ingest/support/bulkServer';
import { Knowledgebase } from '../../ingest/support/knowledgebase';
import { succeeded } from '../../ingest/support/outcomes';

const KNOWLEDGEBASE_ID = 'e0000000-0000-4000-8000-000000000001';

const METHODS: Partial<IExecuteFunctions> = {
	getMode: () => 'trigger',
	getExecutionCancelSignal: () => undefined,
	getWorkflow: () => ({ id: 'w', name: 'W', active: false }),
	getExecutionId: () => '1',
	continueOnFail: () => false,
	addExecutionHints: () => undefined,
};

/** Submits an item of each of these parameters. */
async function submitOf(
	parameters: Array<Record<string, unknown>>,
	server: RawSend,
	more: Partial<IExecuteFunctions> = {},
) {
	const inputs = parameters.map(() => ({ json: {} }));
	const methods = { getInputData: () => inputs, ...METHODS, ...more };
	const connection = { ...unconnected, send: parsing(server) };
	const items = parameters.map((one, index) =>
		itemOf(one, { fields: submit.fields, methods, connection, index }),
	);
	const context = items[0]?.context as IExecuteFunctions;
	return await submit.execute({ context, items });
}

/** What is read and sent, in its order, when the second of fifteen items is no document. */
async function course(mayContinue: boolean): Promise<string[]> {
	const log = new Set<string>();
	const bulk = new BulkServer();
	const inputs = ['a', '', ...'cdefghijklmno'].map((name, index) => ({
		json: Object.defineProperty({}, 'name', {
			enumerable: true,
			get: () => {
				log.add(`read ${index}`);
				return name;
			},
		}) as IDataObject,
	}));
	const parameters = {
		knowledgebaseId: KNOWLEDGEBASE_ID,
		source: 'fields',
		documentFields: { mappingMode: 'autoMapInputData' },
		options: { afterStoring: 'nothing' },
		tuning: { batchSize: 1, concurrency: 1 },
	};
	const server = async (request: ApiRequest) => {
		if (request.method === 'GET') return succeeded([]);
		log.add('sent');
		return await bulk.send(request);
	};
	const methods = { getInputData: () => inputs, continueOnFail: () => mayContinue };
	await submitOf(
		inputs.map(() => parameters),
		server,
		methods,
	).catch(({ message }: Error) => log.add(`ended: ${message.replace(/.*Documents: /, '')}`));
	return [...log];
}

describe('items are read', () => {
	it('all of them before anything is sent, when a bad one ends the run', async () => {
		const ended = 'ended: 1 rejected, 1 not sent, 13 items not read';
		expect(await course(false)).toEqual(['read 0', 'read 1', ended]);
	});

	it('in groups of ten while others are sent, when the run goes on', async () => {
		const log = await course(true);
		expect(log).toContain('read 14');
		expect(log.indexOf('sent')).toBe(log.indexOf('read 10') + 1);
	});
});

it('every memory is closed, also when one before it cannot be', async () => {
	const { send } = new Knowledgebase().routes();
	const closed: string[] = [];
	const server: RawSend = async ({ path, body: sent, ...request }) => {
		const body = typeof sent === 'string' ? sent : undefined;
		if (body?.includes(' has stored ') && closed.push(path) === 1) throw new Error('broken');
		const ids = decodeURIComponent(path).match(/[\da-f-]{36}/g) ?? [];
		return await send({ ...request, path: ids.join(), body });
	};
	const of = (at: number) => ({
		knowledgebaseId: `e0000000-0000-4000-8000-00000000000${at}`,
		source: 'json',
		jsonBody: { id: `e0000000-0000-4000-8000-00000000001${at}`, name: 'a' },
		mode: 'changed',
		options: { afterStoring: 'wait' },
	});
	await expect(submitOf([of(1), of(2)], server)).rejects.toThrow('broken');
	// They are closed at once: which one is written first depends on how fast names are compressed.
	expect(closed.sort()).toEqual([1, 2].map((at) => `/knowledges/${of(at).knowledgebaseId}/bulk`));
});
