import { derivedId } from 'nodes/XpertAi/payloads/ids';
import { BY_NAME, column, hintsOf, useIngest, rows } from './support/ingest';

const { submit, file, storedNames } = useIngest();

const byPath = { ...BY_NAME, documentKey: '={{ $json.filePath }}' };

describe('ids derived from a key', () => {
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
		expect(inJson.error?.message).toContain(`Document 2 of JSON Body: ${words}`);
	});

	it('are missed where nothing gives one', async () => {
		const hint =
			'Documents without an ID: 2. A second run stores them again. A Document Key prevents that.';
		expect(hintsOf(await submit(BY_NAME, { items: rows(2) }))).toContain(hint);
	});

	it('are reported when documents share one, of which the last stays', async () => {
		const parameters = { ...byPath, tuning: { batchSize: 1, concurrency: 1 } };
		const items = rows(10, () => ({ filePath: '/manuals/0.md' }));
		const result = await submit({ ...parameters, afterStoring: 'process' }, { items });
		expect(storedNames()).toEqual(['doc 9']);
		expect(column(result.items, 'outcome')).toEqual([...Array(9).fill('replaced'), 'stored']);
		expect(hintsOf(result)).toEqual([
			'Documents: 1 stored, 9 replaced by a later one (10 batches).',
			'9 documents have the key or ID of a later one, which replaces them: doc 0, doc 1, doc 2',
			'To keep all, give each a key of its own by "Document Key": a path, address or row ID, not a title.',
			'Documents with a File Path: 10. The server looks for it on its own disk.',
		]);
	});
});
