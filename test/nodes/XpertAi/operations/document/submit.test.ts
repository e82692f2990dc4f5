import type { IDataObject, IExecuteFunctions, Logger } from 'n8n-workflow';

import { submit } from '../../../../../nodes/XpertAi/operations/document/submit';
import { itemOf, unconnected } from '../../../support/context';
import { parsing } from '../../../support/send';
import { BulkServer } from '../../ingest/support/bulkServer';
import { succeeded } from '../../ingest/support/outcomes';

/** What is read and sent, in its order, when the second of ten items is no document. */
async function course(mayContinue: boolean): Promise<string[]> {
	const log = new Set<string>();
	const server = new BulkServer();
	const inputs = ['a', '', ...'cdefghij'].map((name, index) => ({
		json: Object.defineProperty({}, 'name', {
			enumerable: true,
			get: () => {
				log.add(`read ${index}`);
				return name;
			},
		}) as IDataObject,
	}));
	const parameters = {
		knowledgebaseId: 'e0000000-0000-4000-8000-000000000001',
		source: 'fields',
		documentFields: { mappingMode: 'autoMapInputData' },
		options: { afterStoring: 'nothing', batchSize: 1, concurrency: 1 },
	};
	const methods: Partial<IExecuteFunctions> = {
		getInputData: () => inputs,
		getMode: () => 'trigger',
		getExecutionCancelSignal: () => undefined,
		getWorkflow: () => ({ id: 'w', name: 'W', active: false }),
		getExecutionId: () => '1',
		continueOnFail: () => mayContinue,
		addExecutionHints: () => undefined,
		logger: { info: () => undefined } as unknown as Logger,
	};
	const send = parsing(async (request) => {
		if (request.method === 'GET') return succeeded([]);
		log.add('sent');
		return await server.send(request);
	});
	const facts = { fields: submit.fields, methods, connection: { ...unconnected, send } };
	const items = inputs.map((_, index) => itemOf(parameters, { ...facts, index }));
	const context = items[0]?.context as IExecuteFunctions;
	await submit.execute({ context, items }).catch(() => log.add('ended'));
	return [...log];
}

describe('items are read', () => {
	it('all of them before anything is sent, when a bad one ends the run', async () => {
		expect(await course(false)).toEqual(['read 0', 'read 1', 'ended']);
	});

	it('one by one while others are sent, when the run goes on', async () => {
		const log = await course(true);
		expect(log).toContain('read 9');
		expect(log.indexOf('sent')).toBeLessThan(log.indexOf('read 9'));
	});
});
