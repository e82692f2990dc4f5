import { ALL_CASES } from './support/cases';
import { useFixture } from './support/fixture';
import { byId } from './support/locators';

const fixture = useFixture();
const { add, sent } = fixture;

describe('bad input', () => {
	it.each(ALL_CASES)('$calls is refused before anything is sent', async ({ bad, refusal }) => {
		const { error } = await fixture.run(bad(fixture.world));
		expect(error?.message).toMatch(refusal);
		expect(error?.name).toBe('NodeOperationError');
		expect(error?.context?.itemIndex).toBe(0);
		expect(sent()).toEqual([]);
	});

	it('of one item does not keep the others from running', async () => {
		const { outputs } = await fixture.run(
			{ resource: 'knowledgebase', operation: 'create', name: '={{ $json.name }}' },
			{
				items: [{ json: { name: 'First' } }, { json: { name: '' } }, { json: { name: 'Third' } }],
				onError: 'continueErrorOutput',
			},
		);
		expect(outputs[0]?.map(({ json, pairedItem }) => [json.name, pairedItem])).toEqual([
			['First', { item: 0 }],
			['Third', { item: 2 }],
		]);
		expect(outputs[1]?.map(({ json, pairedItem }) => [json.error, pairedItem])).toEqual([
			['"Name" is empty: its expression gave nothing for this item [item 1]', { item: 1 }],
		]);
	});
});

it('a request of one item that fails stops the workflow with the number of the item', async () => {
	const unknown = '11111111-1111-4111-8111-111111111111';
	const { error } = await fixture.run(
		{ resource: 'knowledgebase', operation: 'get', knowledgebaseId: byId('={{ $json.id }}') },
		{ items: [{ json: { id: fixture.world.knowledgebaseId } }, { json: { id: unknown } }] },
	);
	expect(error?.message).toBe(`Knowledgebase ${unknown} was not found [item 1]`);
});

const CONFLICT = {
	do: 'status' as const,
	status: 409,
	body: { message: ['name taken', 'try another'], error: 'Conflict', statusCode: 409 },
};

describe('a server that answers with an error', () => {
	it.each(ALL_CASES)(
		'$calls fails with reason, status and request ID',
		async ({ endpoint, good, request }) => {
			add({ ...CONFLICT, endpoint });
			const { error, outputs } = await fixture.run(good(fixture.world));
			expect(outputs).toEqual([]);
			expect(error?.name).toBe('NodeApiError');
			expect(error?.message).toContain('The server answered 409: name taken; try another');
			expect(error).toMatchObject({ httpCode: '409' });
			const { method, path } = request(fixture.world);
			const [arrived] = sent(endpoint);
			expect(error?.context).toMatchObject({
				data: { method, path: expect.stringContaining(path) as string, requestId: arrived?.id },
			});
			expect(JSON.stringify(error)).not.toContain(fixture.sandbox.accessToken);
		},
	);
});
