import { useFixture } from './support/fixture';
import { BY_NAME, REFUSED_SOURCE_TYPE, ingestOn, rows } from './support/ingest';

const fixture = useFixture();
const { submit, storedNames } = ingestOn(fixture);

it('a document the server rejects is named with the counts when the node stops', async () => {
	const bad = (index: number) => (index === 137 ? { sourceType: REFUSED_SOURCE_TYPE } : {});
	const { error } = await submit({
		source: 'json',
		jsonBody: JSON.stringify(rows(250, bad).map(({ json }) => json)),
		documentKeyField: 'name',
		options: { batchSize: 50, concurrency: 1 },
	});
	expect(error?.message).toMatch(
		/^The server answered 400: The server's database refused the data: a text is too long.*\. Documents: 159 stored, 1 rejected, 90 not sent$/,
	);
	expect(error?.description).toContain(
		'A second run replaces documents that carry a UUID as ID and stores all others again.',
	);
	expect(storedNames()).toHaveLength(159);
});

it('a document whose chunks changed is told what to do instead', async () => {
	const withIds = { ...BY_NAME, documentKey: '={{ $json.name }}' };
	const items = (text: string) => rows(1, () => ({ chunks: [{ pageContent: text }] }));
	await submit(withIds, { items: items('first') });
	const { error } = await submit(withIds, { items: items('changed') });
	expect(error?.message).toBe(
		'The server answered 400: it does not take a document again whose chunks changed. Send its text with "Documents From" set to Text, or its file with Files. Documents: 1 rejected',
	);
});
