import { answering } from './support/faults';
import { REFUSED_SOURCE_TYPE, hintsOf, useIngest, rows } from './support/ingest';

const { add, submit } = useIngest();

it('the summary is one item with the counts and what failed, paired with all items', async () => {
	add(answering('E3', 503, { nth: 1, headers: { 'retry-after': '0' } }));
	const items = rows(4, (index) => (index === 2 ? { sourceType: REFUSED_SOURCE_TYPE } : {}));
	const jsonBody = JSON.stringify(items.map(({ json }) => json));
	const summary = { source: 'json', jsonBody, documentKeyField: 'name', output: 'summary' };
	const result = await submit(summary, { items: rows(1), onError: 'continueErrorOutput' });
	const [item, ...others] = result.items;
	expect(others).toEqual([]);
	expect(Object.entries(item?.json ?? {})).toEqual([
		['documents', 4],
		['found', 0],
		['stored', 3],
		['unchanged', 0],
		['replaced', 0],
		['disabled', 0],
		['rejected', 1],
		['unknown', 0],
		['notSent', 0],
		[
			'failed',
			[
				{
					id: expect.any(String),
					key: 'doc 2',
					name: 'doc 2',
					outcome: 'rejected',
					status: 400,
					reason: expect.stringMatching(/too long/),
				},
			],
		],
		['seconds', expect.any(Number)],
		['attempts', 6],
		['batches', 1],
		['retries', 1],
	]);
	expect(item?.pairedItem).toEqual([{ item: 0 }]);
	expect(hintsOf(result)[0]).toBe(
		'Documents: 3 stored, 1 rejected (1 batch, 1 request tried again).',
	);
});

it('gives the reason of a failed document in the words of its own error', async () => {
	const body = { statusCode: 404, message: 'The requested record was not found' };
	add(answering('E3', 404, { body }));
	const summary = { source: 'json', jsonBody: '[{"name":"a"}]', output: 'summary' };
	const { items } = await submit(summary, { onError: 'continueErrorOutput' });
	const reason = expect.stringMatching(/^Knowledgebase .+ was not found$/) as unknown;
	expect(items[0]?.json.failed).toMatchObject([{ status: 404, reason }]);
});
