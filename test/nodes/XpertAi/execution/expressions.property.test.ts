import fc from 'fast-check';
import { attempt, get, isError } from 'lodash';
import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { Item } from 'nodes/XpertAi/execution/item';
import { PROPERTY_RUNS } from 'test/support/propertyRuns';

import { contextWith, unconnected } from '../../support/context';
import { n8nValue } from '../../support/expressions';
import { node } from '../../support/node';
import { paths, sources } from '../../support/paths';

/**
 * Items of one execution, and how often n8n is asked for a value.
 *
 * @param inputs what n8n gives the node as its input
 */
function execution(parameter: string, jsons: IDataObject[], inputs = jsons) {
	let asked = 0;
	const own = { ...node, parameters: { options: { title: parameter } } };
	const context = contextWith({
		getNode: () => own,
		getInputData: () => inputs.map((json) => ({ json })),
		getNodeParameter: ((name: string, index: number, initial: unknown) => {
			asked += 1;
			return n8nValue(get(own.parameters, name, initial), jsons[index] ?? {});
		}) as IExecuteFunctions['getNodeParameter'],
	});
	const items = jsons.map((_, index) => new Item(context, index, [], unconnected));
	return { items, asked: () => asked };
}

/** A value, or the message of an error. */
function outcome(read: () => unknown): unknown {
	const value: unknown = attempt(read);
	return isError(value) ? value.message : value;
}

describe('a path that an expression reads', () => {
	it('has the value that n8n gives, for any item', () => {
		fc.assert(
			fc.property(paths, fc.array(sources, { minLength: 1, maxLength: 4 }), (path, jsons) => {
				const parameter = `={{ ${path} }}`;
				const { items } = execution(parameter, jsons);
				for (const [index, item] of items.entries()) {
					const read = outcome(() => item.readWithoutChecks('options.title', ''));
					expect(read).toEqual(outcome(() => n8nValue(parameter, jsons[index] ?? {})));
				}
			}),
			{ numRuns: PROPERTY_RUNS * 2 },
		);
	});

	it('is trusted as soon as n8n has given the same value once', () => {
		const jsons = [{}, { a: null }, { a: 'x' }, { a: 'y' }, {}, { a: ['z'] }, { a: '' }];
		const { items, asked } = execution('={{ $json.a }}', jsons);
		const steps = items.map((item) => [item.readWithoutChecks('options.title', ''), asked()]);
		expect(steps).toEqual([
			[undefined, 1],
			[null, 2],
			['x', 3],
			['y', 3],
			[undefined, 3],
			[['z'], 4],
			['', 4],
		]);
	});

	it('is never read where n8n gives another value', () => {
		const inputs = [{ a: 'other' }, { a: 'y' }, { a: 'other' }];
		const jsons = [{ a: 'x' }, { a: 'y' }, { a: 'z' }];
		const { items, asked } = execution('={{ $json.a }}', jsons, inputs);
		expect(items.map((item) => item.readWithoutChecks('options.title', ''))).toEqual([
			'x',
			'y',
			'z',
		]);
		expect(asked()).toBe(3);
	});
});
