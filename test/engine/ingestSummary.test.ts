import { useFixture } from './support/fixture';
import { BY_NAME, REFUSED_SOURCE_TYPE, busyFor, hintsOf, ingestOn, rows } from './support/ingest';

const fixture = useFixture();
const { submit } = ingestOn(fixture);

const summary = { ...BY_NAME, output: 'summary', documentKey: '={{ $json.name }}' };
const sentBytes = () =>
	fixture.sandbox.requests.of('E3').reduce((sum, { byteLength = 0 }) => sum + byteLength, 0);

describe('the summary', () => {
	it('is one item with the counts, paired with all items', async () => {
		const { items } = await submit({ ...summary, options: { batchSize: 10 } }, { items: rows(25) });
		expect(items).toHaveLength(1);
		expect(items[0]?.json).toEqual({
			documents: 25,
			stored: 25,
			rejected: 0,
			unknown: 0,
			unchanged: 0,
			disabled: 0,
			notSent: 0,
			found: 0,
			replaced: 0,
			batches: 3,
			bytes: sentBytes(),
			attempts: 3,
			retries: 0,
			splits: 0,
			seconds: expect.any(Number),
			failed: [],
		});
		expect(Object.keys(items[0]?.json ?? {}).slice(0, 10)).toEqual([
			'documents',
			'found',
			'stored',
			'unchanged',
			'replaced',
			'disabled',
			'rejected',
			'unknown',
			'notSent',
			'failed',
		]);
		expect(items[0]?.pairedItem).toEqual(rows(25).map((_, item) => ({ item })));
	});

	it('counts retries and splits, and names what was not stored', async () => {
		fixture.sandbox.faults.add(busyFor(0, 503, { endpoint: 'E3', nth: 1 }));
		const documents = rows(4, (index) => (index === 2 ? { sourceType: REFUSED_SOURCE_TYPE } : {}));
		const result = await submit(
			{
				source: 'json',
				jsonBody: JSON.stringify(documents.map(({ json }) => json)),
				documentKeyField: 'name',
				output: 'summary',
			},
			{ onError: 'continueErrorOutput' },
		);
		expect(result.outputs[0]?.[0]?.json).toMatchObject({
			documents: 4,
			stored: 3,
			rejected: 1,
			batches: 1,
			attempts: 6,
			retries: 1,
			splits: 2,
			bytes: sentBytes(),
			failed: [
				{
					id: expect.any(String),
					name: 'doc 2',
					outcome: 'rejected',
					status: 400,
					reason: expect.stringMatching(/too long/),
				},
			],
		});
		expect(hintsOf(result)[0]).toBe(
			'Documents: 3 stored, 1 rejected (1 batch, 1 request tried again).',
		);
	});
});
