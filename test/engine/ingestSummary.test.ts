import type { INodeExecutionData, INodeParameters } from 'n8n-workflow';

import { answering } from './support/faults';
import { BY_NAME, REFUSED_SOURCE_TYPE, TEXTS, hintsOf, useIngest, rows } from './support/ingest';

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

describe('documents that come twice in one run', () => {
	const HINT = /^2 documents have the key or ID of a later one, which replaces them: /;
	/** An item that each source can make a document of. */
	const itemOf = (name: string, text: string) => {
		const url = `https://a.example/${name}`;
		return { json: { id: name, name, text, url, fileUrl: url } };
	};
	const SOURCES: Record<string, INodeParameters> = {
		JSON: { source: 'json', jsonBody: '={{ [$json] }}', documentKeyField: 'id' },
		Fields: { source: 'fields', ...BY_NAME, documentKey: '={{ $json.id }}' },
		Addresses: { source: 'addresses', url: '={{ $json.url }}' },
		Text: TEXTS,
	};
	const ENDS: Record<string, INodeParameters> = {
		processed: { afterStoring: 'wait' },
		'only stored': { afterStoring: 'nothing' },
		'processed one by one': { afterStoring: 'wait', tuning: { batchSize: 1, concurrency: 1 } },
		'only compared': { afterStoring: 'wait', options: { dryRun: true } },
	};
	const cases = Object.keys(SOURCES).flatMap((of) => Object.keys(ENDS).map((end) => [of, end]));

	/** The hints of a run with each output, and the summary. */
	const compare = async (parameters: INodeParameters, items?: INodeExecutionData[]) => {
		const run = async (output: string) => {
			const own = { mode: 'changed', sourceName: output, output };
			return await submit({ ...parameters, ...own }, { items, onError: 'continueRegularOutput' });
		};
		const [listed, summary] = [await run('documents'), await run('summary')];
		return {
			listed: hintsOf(listed),
			summed: hintsOf(summary),
			summary: summary.items[0]?.json,
		};
	};

	it.each(cases)('count in the summary as in the list, and are named: %s, %s', async (of, end) => {
		const items = [...'abcab'].map((name, at) => itemOf(name, `Version ${at} of ${name}.`));
		const how = { ...SOURCES[of], ...ENDS[end] };
		const { listed, summed, summary } = await compare(how, items);
		for (const hints of [listed, summed])
			expect(hints.filter((hint) => HINT.test(hint))).toHaveLength(1);
		expect(summed[0]).toBe(listed[0]);
		if (end !== 'only compared') expect(summary).toMatchObject({ documents: 5, replaced: 2 });
	});

	it('count as unchanged, rejected or disabled where they are that, and one may come many times', async () => {
		const bad = { id: 'b', name: 'b', sourceType: REFUSED_SOURCE_TYPE };
		const off = { id: 'c', disabled: true };
		const a = { id: 'a', name: 'a' };
		const jsonBody = JSON.stringify([a, bad, off, a, a, bad, off, { id: 'd', name: 'd' }]);
		const parameters = {
			source: 'json',
			jsonBody,
			documentKeyField: 'id',
			tuning: { batchSize: 1 },
		};
		const [first, second] = [await compare(parameters), await compare(parameters)];
		for (const { listed, summed } of [first, second]) expect(summed[0]).toBe(listed[0]);
		const counts = { documents: 8, replaced: 2, rejected: 2 };
		expect(first.summary).toMatchObject({ ...counts, stored: 2, disabled: 2 });
		expect(second.summary).toMatchObject({ ...counts, replaced: 3, unchanged: 3 });
	});
});
