import { map } from 'lodash';

import { expectClosed, watchOpenedFiles } from './support/fixture';
import { REFUSED_SOURCE_TYPE, column, hintsOf, useIngest, rows } from './support/ingest';

const { submit, file, storedNames, sent } = useIngest();

const fromFile = { source: 'records' };
const lines = (count: number, from = 0) =>
	Array.from({ length: count }, (_, index) => `{"name":"doc ${from + index}"}\n`).join('');
const names = (count: number) => rows(count).map(({ json }) => json.name);

describe('documents from a file', () => {
	it('come from several files, each paired with its item', async () => {
		const items = [await file(lines(2)), await file(''), await file(lines(1, 2))];
		const result = await submit(fromFile, { items });
		expect(column(result.items, 'name')).toEqual(names(3));
		expect(map(result.items, 'pairedItem')).toEqual([0, 0, 2].map((item) => ({ item })));
	});

	it('that hold nothing send nothing', async () => {
		const { items, error } = await submit(fromFile, { items: [await file('\n')] });
		expect({ items, error }).toEqual({ items: [], error: undefined });
		expect(sent().map(({ method }) => method)).toEqual(['GET']);
	});

	it('leave no file open when one is rejected half-way', async () => {
		const opened = watchOpenedFiles();
		const text = `{"name":"doc 0","sourceType":"${REFUSED_SOURCE_TYPE}"}\n${lines(100_000)}`;
		const { error } = await submit(fromFile, { items: [await file(text)] });
		expect(error?.message).toMatch(/^The server answered 400/);
		await expectClosed(opened);
		jest.restoreAllMocks();
	});

	it('go past bad lines with Continue, and report each with its number, in its place', async () => {
		const text = '{"name":"doc 0"}\noops\n\n{"name":"doc 1"}\n{"name":5}\n"text"\n{"name":"doc 2"}';
		const result = await submit(fromFile, {
			items: [await file(text)],
			onError: 'continueErrorOutput',
		});
		expect(column(result.outputs[0], 'name')).toEqual(names(3));
		expect(column(result.outputs[1], 'error')).toEqual([
			'Line 2 of the file is not valid JSON',
			'"Line 5 of the file" at name must be text, but is 5',
			'"Line 6 of the file" must be an object (JSON), but is "text"',
		]);
		expect(column(result.outputs[1], 'details')).toEqual(
			Array.from({ length: 3 }, () => expect.objectContaining({ outcome: 'rejected' })),
		);
		expect(hintsOf(result)[0]).toBe('Documents: 3 stored, 3 rejected (1 batch).');
	});

	it('name the field to correct where it is the setting that is wrong, not the file', async () => {
		const { error } = await submit(
			{ ...fromFile, documentKeyField: 'nothere' },
			{ items: [await file(lines(1))] },
		);
		expect(error?.message).toContain('names "nothere", which this document does not have');
		expect(error?.description).toContain('or the field of the node that the message names');
	});

	it('end at a bad line with Stop, and it is said how many are stored', async () => {
		const { error } = await submit(
			{ ...fromFile, tuning: { batchSize: 2, concurrency: 1 } },
			{ items: [await file(`${lines(5)}oops\n${lines(5, 5)}`)] },
		);
		expect(error?.message).toBe(
			'Line 6 of the file is not valid JSON. Documents: 5 stored, 1 rejected',
		);
		expect(error).toMatchObject({
			description: expect.stringMatching(/^This record was not sent\. Correct the file/),
		});
		expect(storedNames()).toEqual(names(5));
	});
});
