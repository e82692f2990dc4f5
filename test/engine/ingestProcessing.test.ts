import { Logger } from '@n8n/backend-common';
import { Container } from '@n8n/di';

import type { INodeParameters } from 'n8n-workflow';

import { startSandbox } from 'sandbox';
import { answering } from './support/faults';
import { clock } from './support/clock';
import { AN_HOUR, stopOnce } from './support/fixture';
import { BY_NAME, column, ending, hintsOf, useIngest, rows } from './support/ingest';

const { add, sent, documents, submit, storedNames } = useIngest();

const parameters = (afterStoring: 'process' | 'wait', more: INodeParameters = {}) => ({
	...BY_NAME,
	documentKey: '={{ $json.name }}',
	afterStoring,
	...more,
});
const requests = (endpoint: string) => sent(endpoint);

describe('After Storing: Start Processing', () => {
	it('starts the processing of the stored documents and does not wait', async () => {
		const { items } = await submit(parameters('process'), { items: rows(3) });
		expect(requests('process').map(({ body }) => body)).toEqual([column(items, 'id')]);
		// One request asks whether the source has a memory.
		expect(requests('status')).toHaveLength(1);
		expect(column(items, 'processing')).toEqual(['running', 'running', 'running']);
	});

	it('that cannot be started ends the workflow, or fails document by document, with the documents stored', async () => {
		add(answering('process', 403));
		const reason =
			'The document is stored, but its processing could not be started. This key may not do this: no (HTTP 403)';
		const { error } = await submit(parameters('process'), { items: rows(2) });
		expect(error?.message).toBe('2 documents are stored but not found: doc 0, doc 1');
		expect(error?.description).toContain(`${reason}. It is stored`);
		expect(storedNames()).toHaveLength(2);
		const goesOn = { items: rows(2), onError: 'continueErrorOutput' } as const;
		const { outputs } = await submit(parameters('process'), goesOn);
		expect(outputs[0]).toEqual([]);
		expect(column(outputs[1], 'error')).toEqual([reason, reason]);
		expect(column(outputs[1], 'details')[0]).toMatchObject({ name: 'doc 0', outcome: 'stored' });
	});
});

it.each([
	['process', 'started'],
	['status', 'followed'],
])('a hint says what the processing could not be: %s, %s', async (route, step) => {
	add(answering(route, 403));
	const onError = 'continueErrorOutput';
	const result = await submit(parameters('wait'), { items: rows(2), onError });
	expect(hintsOf(result)).toContainEqual(
		expect.stringContaining(`The documents are stored, but their processing could not be ${step}.`),
	);
});

describe('After Storing: Process and Wait', () => {
	const wait = parameters('wait');
	it('gives each document the end of its processing; one that failed is on the error output', async () => {
		const result = await submit(wait, {
			items: rows(
				3,
				(index) =>
					[ending('finish'), ending('error', 10, 'No text found'), ending('cancel', 10, 'By hand')][
						index
					] ?? {},
			),
			onError: 'continueErrorOutput',
		});
		expect(result.outputs[0]?.map(({ json }) => json)).toEqual([
			expect.objectContaining({
				name: 'doc 0',
				outcome: 'found',
				processing: 'finish',
			}),
		]);
		expect(column(result.outputs[1], 'error')).toEqual([
			'The document could not be processed: No text found',
			'The document was stored, but its processing was cancelled: By hand',
		]);
		expect(column(result.outputs[1], 'details')).toEqual([
			expect.objectContaining({ name: 'doc 1', outcome: 'stored', processing: 'error' }),
			expect.objectContaining({ name: 'doc 2', outcome: 'stored', processing: 'cancel' }),
		]);
		expect(hintsOf(result)).toContain(
			'2 documents are stored but not found. The document could not be processed: No text found.',
		);
		expect(storedNames()).toHaveLength(3);
	});

	it('ends the workflow with the name of the one that failed, and counts the others', async () => {
		const ends = [ending('finish'), ending('error', 10, 'No text found'), ending('finish')];
		const { error } = await submit(wait, { items: rows(3, (index) => ends[index] ?? {}) });
		expect(error?.message).toBe('1 document is stored but not found: doc 1');
		expect(error?.description).toBe(
			'The document could not be processed: No text found. It is stored, and assistants do not find it. Replace the file, as it may be damaged, empty or locked, and run it again. Documents: 2 can be found, 1 stored. To have the others come out all the same, set "On Error" in the settings of the node to "Continue (using error output)", and connect that output.',
		);
	});

	it('ends with the time it may take, and logs every half minute how far it is', async () => {
		const info = jest.spyOn(Container.get(Logger), 'info');
		const result = await submit(parameters('wait', { options: { waitMinutes: 1 } }), {
			items: rows(1, () => ending('finish', AN_HOUR)),
		});
		expect(column(result.items, 'outcome')).toEqual(['stored']);
		expect(column(result.items, 'processing')).toEqual(['running']);
		expect(hintsOf(result)).toContain('1 document was still being processed when the wait ended.');
		expect(info.mock.calls.map(([line]) => line)).toContainEqual(
			expect.stringMatching(/: 1 of 1 done, 1 stored, 0 found$/),
		);
	});

	it('ends when the execution is stopped, and asks nothing more', async () => {
		const stop = stopOnce(() => storedNames().length === 1);
		const { run } = await submit(wait, {
			items: rows(1, () => ending('finish', AN_HOUR)),
			onStart: stop.onStart,
		});
		expect(run.status).toBe('canceled');
		expect(stop.waitedMs()).toBeLessThan(1000);
		const asked = requests('status').length;
		await clock.advance(AN_HOUR);
		expect(requests('status')).toHaveLength(asked);
	});
});

it('with Stop, what was stored before the one that was refused is processed all the same', async () => {
	add(answering('E3', 422, { nth: 3 }));
	const { error } = await submit(parameters('wait', { tuning: { batchSize: 1, concurrency: 1 } }), {
		items: rows(3, () => ending('finish')),
	});
	expect(error?.message).toContain('Documents: 2 stored, 1 rejected');
	const ids = documents().map(({ id }) => id);
	expect(requests('process').flatMap(({ body }) => body)).toEqual(ids);
});

it('a server without these routes still stores the documents, which are given with a note', async () => {
	const other = await startSandbox({ processing: false });
	const { id } = other.store.putKnowledgebase({ name: 'Manuals' });
	const result = await submit(
		{ ...parameters('wait'), knowledgebaseId: id },
		{ items: rows(3), credential: { baseUrl: other.url, accessToken: other.accessToken } },
	).finally(async () => await other.close());
	expect(result.error).toBeUndefined();
	expect(column(result.items, 'outcome')).toEqual(['stored', 'stored', 'stored']);
	expect(hintsOf(result)).toEqual([
		'Documents: 3 stored (1 batch).',
		'This server decides by itself when documents are found: it takes no request to process them.',
	]);
	expect(other.store.documentsOf(id)).toHaveLength(3);
});
