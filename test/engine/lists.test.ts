import { SANDBOX_ASSISTANT_ID } from 'sandbox';
import { useFixture } from './support/fixture';

const fixture = useFixture();

describe('Conversation: Get Many', () => {
	const search = { resource: 'conversation', operation: 'search' };

	it('keeps the fields people look for with Simplify, and all without', async () => {
		const short = await fixture.run({ ...search, limit: 1 });
		const long = await fixture.run({ ...search, limit: 1, simplify: false });
		expect(Object.keys(short.items[0]?.json ?? {})).toEqual([
			'id',
			'threadId',
			'title',
			'status',
			'error',
			'xpertId',
			'createdAt',
			'updatedAt',
		]);
		expect(Object.keys(long.items[0]?.json ?? {}).length).toBeGreaterThan(10);
	});

	it.each(['limit', 'offset'])('refuses "%s" in Additional Fields, as it sets it', async (key) => {
		const options = { additionalFieldsJson: JSON.stringify({ [key]: 2 }) };
		const { error } = await fixture.run({ ...search, options });
		expect(error?.message).toBe(
			`"Additional Fields (JSON)" at ${key} is what the node sets itself: leave it out`,
		);
		expect(fixture.sandbox.requests.all).toEqual([]);
	});
});

describe('Store: Create Namespace', () => {
	it('gives an item for each namespace the server lists', async () => {
		const { items } = await fixture.run({ resource: 'store', operation: 'createNamespace' });
		for (const { json } of items) expect(json.namespace).toEqual(expect.any(Array));
		expect(items.length).toBeGreaterThan(1);
	});

	it('gives the answer itself when the server lists none', async () => {
		const { items } = await fixture.run({
			resource: 'store',
			operation: 'createNamespace',
			prefix: `${SANDBOX_ASSISTANT_ID}/nowhere`,
		});
		expect(items.map(({ json }) => json)).toEqual([{ namespaces: [] }]);
	});
});
