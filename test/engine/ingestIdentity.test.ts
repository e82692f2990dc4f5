import { derivedId } from '../../nodes/XpertAi/payloads/derivedId';
import { useFixture } from './support/fixture';
import { BY_NAME, column, hintsOf, ingestOn, rows } from './support/ingest';

const fixture = useFixture();
const { submit, file, storedNames } = ingestOn(fixture);

const byPath = { ...BY_NAME, documentKey: '={{ $json.filePath }}' };
const withPaths = (count: number, name = 'doc') =>
	rows(count, (index) => ({ name: `${name} ${index}`, filePath: `/manuals/${index}.md` }));

describe('ids derived from a key', () => {
	it('are the same in every run, so that a second run replaces the documents', async () => {
		const first = await submit(byPath, { items: withPaths(5) });
		const second = await submit(byPath, { items: withPaths(5, 'new') });
		const ids = withPaths(5).map(({ json }) =>
			derivedId(fixture.world.knowledgebaseId, String(json.filePath)),
		);
		expect(column(first.items, 'id')).toEqual(ids);
		expect(column(second.items, 'id')).toEqual(ids);
		expect(storedNames()).toEqual(column(withPaths(5, 'new'), 'name'));
	});

	it.each([
		['a column', { ...BY_NAME, documentKey: '={{ $json.id }}' }],
		['a field of JSON', { source: 'json', jsonBody: '={{ [$json] }}', documentKeyField: 'id' }],
	])('may come from a row number, although it is no id itself: %s', async (_, parameters) => {
		const { items, error } = await submit(parameters, { items: rows(2, (id) => ({ id })) });
		expect(error).toBeUndefined();
		expect(column(items, 'id')).toEqual(
			['0', '1'].map((key) => derivedId(fixture.world.knowledgebaseId, key)),
		);
	});

	it('tell which document lacks what it needs', async () => {
		const words = '"Key Field" names "path", which this document does not have';
		const parameters = { documentKeyField: 'path' };
		const good = { id: derivedId('kb', 'a'), path: '/a' };
		const inFile = await submit(
			{ source: 'records', ...parameters },
			{ items: [await file(`${JSON.stringify(good)}\n{"name":"b"}`)] },
		);
		expect(inFile.error?.message).toContain(`Line 2 of the file: ${words}`);
		const inJson = await submit({
			source: 'json',
			jsonBody: JSON.stringify([good, { name: 'b' }]),
			...parameters,
		});
		expect(inJson.error?.message).toContain(`Document 2 of "JSON Body": ${words}`);
	});

	it('are missed where nothing gives one', async () => {
		const hint =
			'2 documents have no ID: a second run stores them again. A Document Key prevents that.';
		expect(hintsOf(await submit(BY_NAME, { items: rows(2) }))).toContain(hint);
	});

	it.each(['documents', 'summary'])(
		'of two files of one name are reported, with Output %s',
		async (output) => {
			const files = [await file('a'), await file('b')];
			const result = await submit({ source: 'files', output }, { items: files });
			expect(hintsOf(result)).toContain(
				'1 document came with the key or ID of an earlier one and replaced it: documents.json',
			);
		},
	);

	it('are reported with some of them, as far as they fit', async () => {
		const items = ['a', 'b', 'c'].flatMap((key) => {
			const filePath = `/${key.repeat(30)}.md`;
			return rows(3, () => ({ filePath }));
		});
		const [hint = ''] = hintsOf(await submit(byPath, { items })).filter((one) =>
			one.includes('came with the key'),
		);
		expect(hint).toBe(
			'6 documents came with the key or ID of an earlier one and replaced it: /aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.md...',
		);
		expect(hint.length).toBeLessThanOrEqual(120);
	});

	it('are reported when documents share one, of which the last stays', async () => {
		const parameters = { ...byPath, options: { batchSize: 1, concurrency: 1 } };
		const items = rows(10, () => ({ filePath: '/manuals/0.md' }));
		const result = await submit({ ...parameters, afterStoring: 'process' }, { items });
		expect(storedNames()).toEqual(['doc 9']);
		expect(column(result.items, 'outcome')).toEqual([...Array(9).fill('replaced'), 'stored']);
		expect(hintsOf(result)).toContain(
			'9 documents came with the key or ID of an earlier one and replaced it: /manuals/0.md',
		);
	});
});
