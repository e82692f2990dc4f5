import { uniqBy } from 'lodash';
import type { INode } from 'n8n-workflow';

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
	beforeEach(() => void fixture.sandbox.faults.add(CONFLICT));

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
			const [arrived] = fixture.sandbox.requests.of(endpoint);
			expect(error?.context).toMatchObject({
				data: { method, path: expect.stringContaining(path) as string, requestId: arrived?.id },
			});
			expect(JSON.stringify(error)).not.toContain(fixture.sandbox.accessToken);
		},
	);

	it.each(ONE_OF_EACH_KIND)('$endpoint gives an error item for each item', async ({ good }) => {
		const items = [{ json: { row: 1 } }, { json: { row: 2 } }];
		const run = async (onError: INode['onError']) =>
			(await fixture.run(good(fixture.world), { items, onError })).outputs;
		const [none, errors = []] = await run('continueErrorOutput');
		const [both] = await run('continueRegularOutput');
		expect(none).toEqual([]);
		expect(errors.map(({ json, error }) => [json.row, error])).toEqual([
			[1, undefined],
			[2, undefined],
		]);
		for (const output of [errors, both])
			expect(output).toMatchObject(
				[0, 1].map((item) => ({
					json: {
						error: expect.stringMatching(
							/^The server answered 409: name taken; try another/,
						) as string,
						details: { httpCode: '409' },
					},
					pairedItem: { item },
				})),
			);
	});
});
