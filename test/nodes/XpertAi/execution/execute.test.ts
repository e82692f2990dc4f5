import fc from 'fast-check';
import get from 'lodash/get';
import { NodeOperationError } from 'n8n-workflow';
import type { INode, INodeParameters } from 'n8n-workflow';

import { catalogue } from '../../../../nodes/XpertAi/catalogue';
import { cachedContext, execute } from '../../../../nodes/XpertAi/execution/execute';
import { onlyReads } from '../../../../nodes/XpertAi/execution/operation';
import type { DeclaredOperation } from '../../../../nodes/XpertAi/execution/operation';
import { contextWith, itemOf } from '../../support/context';
import { node } from '../../support/node';

/** A context that counts what is asked of n8n, whose expressions give each item another value. */
function counted(parameters: INodeParameters) {
	const asked: string[] = [];
	const copies: INode[] = [];
	const resolve = (
		name: string,
		itemIndex: number,
		fallback?: unknown,
		options?: { extractValue?: boolean },
	) => {
		asked.push(options?.extractValue ? `${name} extracted` : name);
		const value = get(parameters, name, fallback) as unknown;
		return typeof value === 'string' && value.startsWith('=') ? `of item ${itemIndex}` : value;
	};
	const getNode = () => {
		copies.push({ ...node, parameters });
		return copies.at(-1) as INode;
	};
	const getNodeParameter = resolve as never;
	const context = contextWith({ getNode, getNodeParameter, continueOnFail: () => true });
	return { context: cachedContext(context), asked, copies };
}

describe('cachedContext', () => {
	const EXPRESSION = '={{ $json.name }}';

	it.each<[string, INodeParameters, number]>([
		['name', { name: 'a' }, 1],
		['deep', { deep: { er: [1] } }, 1],
		['options.fixed', { options: { fixed: 1, other: EXPRESSION } }, 1],
		['name', { name: EXPRESSION }, 3],
		['name', { name: { values: [{ a: ['x', EXPRESSION] }] } }, 3],
	])('resolves "%s" of %j for three items %i times', (name, parameters, times) => {
		const { context, asked } = counted(parameters);
		for (const index of [0, 1, 2]) context.getNodeParameter(name, index);
		expect(asked).toHaveLength(times);
	});

	it('keeps a locator apart from the value that is extracted of it', () => {
		const { context, asked } = counted({ threadId: { __rl: true, mode: 'id', value: 'x' } });
		for (const index of [0, 1]) {
			context.getNodeParameter('threadId', index);
			context.getNodeParameter('threadId', index, '', { extractValue: true });
		}
		expect(asked).toEqual(['threadId', 'threadId extracted']);
	});

	it('leaves each reader its own default', () => {
		const { context } = counted({});
		expect([5, 7].map((initial) => context.getNodeParameter('limit', 0, initial))).toEqual([5, 7]);
	});

	it('gives the values n8n gives, whatever the parameters and the order', () => {
		const value = fc.oneof(
			...[fc.constantFrom('a', '=b', 'c = d', 5, false), fc.array(fc.constantFrom('x', '=y'))],
			fc.record({ in: fc.constantFrom('x', '=y') }),
		);
		const reads = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'b.in', 'c'), fc.nat(3)));
		fc.assert(
			fc.property(fc.record({ a: value, b: value }), reads, (parameters, order) => {
				const { context } = counted(parameters);
				const plain = Object.getPrototypeOf(counted(parameters).context) as typeof context;
				for (const [name, index] of order)
					expect(context.getNodeParameter(name, index, 'none')).toEqual(
						plain.getNodeParameter(name, index, 'none'),
					);
			}),
		);
	});

	it('copies the node once, and keeps the rest of its context', () => {
		const { context, copies } = counted({ name: 'a' });
		const nodes = [1, 2, 3].map(() => context.getNode());
		context.getNodeParameter('name', 0);
		expect(copies).toHaveLength(1);
		for (const one of nodes) expect(one).toBe(copies[0]);
		expect(context.continueOnFail()).toBe(true);
	});
});

it.each([
	['knowledgebase', 'submit'],
	['none', 'create'],
	['', ''],
])(
	'execute refuses an operation that is not in the catalogue: %s: %s',
	async (resource, operation) => {
		const methods = {
			getExecutionCancelSignal: () => undefined,
			getInputData: () => [{ json: {} }],
		};
		const work = execute(itemOf({ resource, operation }, { methods }).context, catalogue);
		await expect(work).rejects.toBeInstanceOf(NodeOperationError);
		await expect(work).rejects.toMatchObject({
			message: `The node has no operation "${operation}" for "${resource}"`,
			description: 'Choose Resource and Operation from their lists.',
		});
	},
);

it.each<[boolean, Partial<DeclaredOperation>]>([
	[true, { method: 'GET', repeatable: true }],
	[true, { method: 'POST', repeatable: true }],
	[true, { method: 'PUT', repeatable: true, fixedBody: {} }],
	[false, { method: 'PUT', repeatable: true }],
	[false, { method: 'PATCH', repeatable: true, fixedBody: {} }],
	[false, { method: 'POST' }],
])('onlyReads is %s for %j', (reads, operation) => {
	expect(onlyReads(operation as DeclaredOperation)).toBe(reads);
});
