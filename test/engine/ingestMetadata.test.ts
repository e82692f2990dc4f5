import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { BY_NAME, TEXTS, column, useIngest, rows } from './support/ingest';

const { fixture, sent, documents, submit } = useIngest();

const SCHEMA = [
	{ key: 'department', type: 'string' },
	{ key: 'year', type: 'number' },
	{ key: 'validFrom', type: 'datetime' },
].map((field) => ({ ...field, scope: 'document' }));

beforeEach(() => {
	const { knowledgebases } = fixture.sandbox.store;
	Object.assign(knowledgebases.get(fixture.world.knowledgebaseId) ?? {}, {
		metadataSchema: SCHEMA,
	});
});

const metadataOf = (name: string) =>
	documents().find((document) => String(document.name).startsWith(name))?.metadata;

const text = (documentSettings: INodeParameters): INodeParameters => ({
	...TEXTS,
	documentSettings,
});

const withRows = (...values: INodeParameters[]) => text({ metadataRows: { values } });

const item = (json: IDataObject = {}) => [{ json: { name: 'a', text: 'hello', ...json } }];

describe('the metadata of a document', () => {
	it('is made of rows, each of its type', async () => {
		await submit(
			withRows(
				{ key: 'department', type: 'string', content: '={{ $json.department }}' },
				{ key: 'year', type: 'number', content: '2025' },
				{ key: 'secret', type: 'boolean', content: 'false' },
				{ key: 'validFrom', type: 'datetime', content: '2025-03-01T02:00:00+02:00' },
				{ key: 'tags', type: 'string[]', content: 'a, b\nc' },
				{ key: 'list', type: 'string[]', content: '={{ ["d, e"] }}' },
				{ key: 'asJson', type: 'string[]', content: '={{ JSON.stringify($json.teams) }}' },
			),
			{ items: item({ department: 'sales', teams: ['hr', 'it, law'] }) },
		);
		expect(metadataOf('a')).toEqual({
			department: 'sales',
			year: 2025,
			secret: false,
			validFrom: '2025-03-01T00:00:00.000Z',
			tags: ['a', 'b', 'c'],
			list: ['d, e'],
			asJson: ['hr', 'it, law'],
		});
	});

	it('has what JSON says beside the rows, and nothing of rows without a value', async () => {
		await submit(
			text({
				metadata: '{ "department": "law", "other": [1] }',
				metadataRows: {
					values: [
						{ key: 'department', type: 'string', content: 'sales' },
						{ key: 'year', type: 'number', content: '' },
					],
				},
			}),
			{ items: item() },
		);
		expect(metadataOf('a')).toEqual({ department: 'sales', other: [1] });
	});

	it.each<[what: string, row: INodeParameters, words: string]>([
		[
			'number',
			{ key: 'year', type: 'number', content: 'this year' },
			'year in "Metadata Rows" must be a number, but is "this year"',
		],
		[
			'date',
			{ key: 'validFrom', type: 'datetime', content: 'yesterday' },
			'validFrom in "Metadata Rows" must be an ISO 8601 date, such as 2026-01-31, but is "yesterday"',
		],
		[
			'choice',
			{ key: 'secret', type: 'boolean', content: 'perhaps' },
			'secret in "Metadata Rows" must be true or false, but is "perhaps"',
		],
		['key', { type: 'string', content: 'x' }, '"Key" in "Metadata Rows" must not be empty'],
	])('is refused where a row holds no %s', async (_, row, words) => {
		const { error } = await submit(withRows(row), { items: item() });
		expect(error?.message).toContain(words);
		expect(sent('E3')).toEqual([]);
	});

	it('has a date as text that ends in Z', async () => {
		const metadata = '={{ { validFrom: DateTime.fromISO($json.day) } }}';
		await submit(text({ metadata }), { items: item({ day: '2025-03-01T02:00:00.000+02:00' }) });
		expect(metadataOf('a')).toEqual({ validFrom: '2025-03-01T00:00:00.000Z' });
	});

	it('that the server refuses comes out with its document, and the others are stored', async () => {
		const parameters = { ...BY_NAME, documentKey: '={{ $json.name }}' };
		const { items } = await submit(parameters, {
			items: rows(5, (index) => ({ metadata: { year: index === 3 ? '2025' : 2025 } })),
			onError: 'continueRegularOutput',
		});
		expect(column(items, 'name')).toEqual(['doc 0', 'doc 1', 'doc 2', undefined, 'doc 4']);
		const failed = items[3]?.json as IDataObject;
		expect(failed.error).toContain("Metadata 'year' must be of type 'number'");
		expect(failed.details).toMatchObject({ name: 'doc 3', outcome: 'rejected' });
	});
});
