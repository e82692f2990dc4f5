import fc from 'fast-check';
import get from 'lodash/get';
import type { INode, INodeParameters } from 'n8n-workflow';

import { cachedContext } from '../../../../nodes/XpertAi/execution/execute';
import { contextWith } from '../../support/context';
import { node } from '../../support/node';

/** What n8n resolves an expression to; each item has another value. */
const RESOLVED = 'of item';

/** A context that counts what is asked of n8n. */
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
		return typeof value === 'string' && value.startsWith('=') ? `${RESOLVED} ${itemIndex}` : value;
	};
	const context = contextWith({
		getNode: () => {
			copies.push({ ...node, parameters });
			return copies[copies.length - 1] as INode;
		},
		getNodeParameter: resolve as never,
		continueOnFail: () => true,
	});
	return { context: cachedContext(context), asked, copies };
}

describe('a parameter that is the same for all items', () => {
	it('is resolved once', () => {
		const { context, asked } = counted({ name: 'a', deep: { er: [1] } });
		const read = [0, 1, 2].map((index) => [
			context.getNodeParameter('name', index),
			context.getNodeParameter('deep', index),
		]);
		expect(read).toEqual([0, 1, 2].map(() => ['a', { er: [1] }]));
		expect(asked).toEqual(['name', 'deep']);
	});

	it('is resolved once within a collection as well, beside an expression', () => {
		const { context, asked } = counted({ options: { fixed: 1, other: '={{ $json.x }}' } });
		for (const index of [0, 1]) expect(context.getNodeParameter('options.fixed', index)).toBe(1);
		expect(asked).toEqual(['options.fixed']);
	});

	it('is kept apart from the value that is extracted of it', () => {
		const locator = { __rl: true, mode: 'id', value: 'x' };
		const { context, asked } = counted({ threadId: locator });
		for (const index of [0, 1]) {
			context.getNodeParameter('threadId', index);
			context.getNodeParameter('threadId', index, '', { extractValue: true });
		}
		expect(asked).toEqual(['threadId', 'threadId extracted']);
	});
});

describe('a parameter that items may differ in', () => {
	it.each<[string, INodeParameters]>([
		['an expression', { name: '={{ $json.name }}' }],
		['an expression, deep inside', { name: { values: [{ a: ['x', '={{ $json.a }}'] }] } }],
	])('is resolved for each: %s', (_, parameters) => {
		const { context, asked } = counted(parameters);
		for (const index of [0, 1, 2]) context.getNodeParameter('name', index);
		expect(asked).toEqual(['name', 'name', 'name']);
	});

	it('is one the node does not have: each reader has a default of its own', () => {
		const { context } = counted({});
		expect(context.getNodeParameter('limit', 0, 5)).toBe(5);
		expect(context.getNodeParameter('limit', 0, 7)).toBe(7);
	});
});

it('gives the values n8n gives, whatever the parameters and the order', () => {
	const value = fc.oneof(
		fc.constantFrom('a', '=b', 'c = d', 5, false),
		fc.array(fc.constantFrom('x', '=y')),
		fc.record({ in: fc.constantFrom('x', '=y') }),
	);
	const reads = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'b.in', 'c'), fc.nat(3)));
	fc.assert(
		fc.property(fc.record({ a: value, b: value }), reads, (parameters, order) => {
			const cached = counted(parameters);
			const plain = counted(parameters);
			for (const [name, index] of order) {
				const given = Object.getPrototypeOf(plain.context) as typeof plain.context;
				expect(cached.context.getNodeParameter(name, index, 'none')).toEqual(
					given.getNodeParameter(name, index, 'none'),
				);
			}
		}),
	);
});

describe('the node', () => {
	it('is copied once', () => {
		const { context, copies } = counted({ name: 'a' });
		const nodes = [1, 2, 3].map(() => context.getNode());
		context.getNodeParameter('name', 0);
		expect(copies).toHaveLength(1);
		for (const one of nodes) expect(one).toBe(copies[0]);
	});

	it('has the rest of its context', () => {
		const { context } = counted({});
		expect(context.continueOnFail()).toBe(true);
		expect(() => context.getMode()).toThrow('the test gives the context no getMode');
	});
});
