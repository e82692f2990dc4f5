import { useFixture } from './support/fixture';
import { byId } from './support/locators';

const fixture = useFixture();

/** More than what a call of a function takes as arguments. */
const COUNT = 200_000;

const ids = Array.from(
	{ length: COUNT },
	(_, n) => `00000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`,
);
describe.each([
	['as text', ids.join(',')],
	['as a list that an expression gives', ids],
])('200,000 document IDs, %s,', (_, documentIds) => {
	it('are asked after by Get Processing Status', async () => {
		const { items, error } = await fixture.run({
			resource: 'document',
			operation: 'getStatus',
			knowledgebaseId: byId(fixture.world.knowledgebaseId),
			documentIds,
		});
		expect(error).toBeUndefined();
		expect(items).toHaveLength(COUNT);
		expect(items.at(-1)?.json).toEqual({ id: ids.at(-1), status: 'unknown' });
	});

	it('are switched off by Disable', async () => {
		const { items, error } = await fixture.run({
			resource: 'document',
			operation: 'disable',
			knowledgebaseId: byId(fixture.world.knowledgebaseId),
			documentsBy: 'id',
			documentIds,
		});
		expect(error).toBeUndefined();
		expect(items).toHaveLength(COUNT);
		expect(items.at(-1)?.json).toMatchObject({ id: ids.at(-1), outcome: 'missing' });
	});
});
