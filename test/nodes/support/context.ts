import get from 'lodash/get';
import type { IExecuteFunctions } from 'n8n-workflow';

import type { ItemReader } from '../../../nodes/XpertAi/execution/readFields';
import { node } from './node';

/**
 * The boundary to n8n with nothing but the given methods behind it: code that asks for anything else
 * fails its test.
 */
export function contextWith(methods: Partial<IExecuteFunctions>): IExecuteFunctions {
	const known: Record<string, unknown> = { getNode: () => node, ...methods };
	return new Proxy({} as IExecuteFunctions, {
		get: (_, name) => {
			if (typeof name === 'string' && name in known) return known[name];
			throw new Error(`the test gives the context no ${String(name)}`);
		},
	});
}

/** Reads parameters off an object, as n8n reads them off the node; `methods` are what else is asked for. */
export function readerOf(
	parameters: Record<string, unknown>,
	itemIndex = 0,
	methods: Partial<IExecuteFunctions> = {},
): ItemReader {
	const getNodeParameter = (name: string, _itemIndex: number, fallback?: unknown) =>
		get(parameters, name, fallback) as unknown;
	return {
		// The overloads of n8n's method all come down to this one.
		context: contextWith({
			getNodeParameter: getNodeParameter as IExecuteFunctions['getNodeParameter'],
			...methods,
		}),
		itemIndex,
	};
}
