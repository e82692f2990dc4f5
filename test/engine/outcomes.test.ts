import { uniqBy } from 'lodash';

import { isCoded } from '../../nodes/XpertAi/execution/operation';
import { calledBy } from './support/caseOperations';
import { ALL_CASES, type OperationCase } from './support/cases';
import { useFixture } from './support/fixture';

const fixture = useFixture();

/** Operations that differ in none of these take the same way through the node. */
function kindOf(one: OperationCase): string {
	const operation = calledBy(one);
	if (isCoded(operation)) return one.endpoint;
	const { method, body, paging, precheck } = operation;
	const sends = body && ('parts' in body ? 'file' : 'json');
	return [method, sends, paging && 'list', precheck && 'precheck'].join();
}

/** One operation of each kind; the fault matrix tries every operation with each setting of On Error. */
const ONE_OF_EACH_KIND = uniqBy(ALL_CASES, kindOf);

describe('bad input', () => {
	it.each(ALL_CASES)('$endpoint is refused before anything is sent', async ({ bad, refusal }) => {
		const { error } = await fixture.run(bad(fixture.world));
		expect(error?.message).toMatch(refusal);
		expect(error?.name).toBe('NodeOperationError');
		expect(error?.context?.itemIndex).toBe(0);
		expect(fixture.sandbox.requests.all).toEqual([]);
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

const CONFLICT = {
	do: 'status' as const,
	status: 409,
	body: { message: ['name taken', 'try another'], error: 'Conflict', statusCode: 409 },
};

describe('a server that answers with an error', () => {
	beforeEach(() => {
		fixture.sandbox.faults.add(CONFLICT);
	});

	it.each(ALL_CASES)(
		'$endpoint fails with reason, status and request ID',
		async ({ endpoint, good, request }) => {
			fixture.sandbox.faults.clear();
			fixture.sandbox.faults.add({ ...CONFLICT, endpoint });
			const { error, outputs } = await fixture.run(good(fixture.world));
			expect(outputs).toEqual([]);
			expect(error?.name).toBe('NodeApiError');
			expect(error?.message).toContain('The server answered 409: name taken; try another');
			expect(error).toMatchObject({ httpCode: '409' });
			const { method, path } = request(fixture.world);
			expect(error?.description).toContain(`Request: ${method} ${path}.`.replace(/\.$/, ''));
			const [arrived] = fixture.sandbox.requests.of(endpoint);
			expect(error?.description).toContain(`Request ID: ${arrived?.id}`);
			expect(JSON.stringify(error)).not.toContain(fixture.sandbox.accessToken);
		},
	);

	it.each(ONE_OF_EACH_KIND)(
		'$endpoint sends each item to the error output, paired',
		async ({ good }) => {
			const items = [{ json: { row: 1 } }, { json: { row: 2 } }];
			const { outputs } = await fixture.run(good(fixture.world), {
				items,
				onError: 'continueErrorOutput',
			});
			expect(outputs[0]).toEqual([]);
			expect(outputs[1]?.map(({ json, pairedItem }) => [json.row, pairedItem])).toEqual([
				[1, { item: 0 }],
				[2, { item: 1 }],
			]);
			expect(outputs[1]?.[0]?.json).toMatchObject({
				error: 'The server answered 409: name taken; try another',
				details: { httpCode: '409' },
			});
			for (const item of outputs[1] ?? []) expect(item.error).toBeUndefined();
		},
	);

	it.each(ONE_OF_EACH_KIND)(
		'$endpoint gives error items on the main output with "Continue"',
		async ({ good }) => {
			const { items } = await fixture.run(good(fixture.world), {
				items: [{ json: { row: 1 } }, { json: { row: 2 } }],
				onError: 'continueRegularOutput',
			});
			expect(items.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 0 }, { item: 1 }]);
			for (const { json } of items) {
				expect(json.error).toContain('409');
				expect(json.details).toMatchObject({ httpCode: '409' });
			}
		},
	);
});
