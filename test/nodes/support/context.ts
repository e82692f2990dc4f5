import { get, isEmpty } from 'lodash';
import type {
	IDataObject,
	IExecuteFunctions,
	INodeParameters,
	INodeProperties,
} from 'n8n-workflow';

import { Item } from '../../../nodes/XpertAi/execution/item';
import type { Connection } from '../../../nodes/XpertAi/transport/request';
import { n8nValue } from './expressions';
import { node } from './node';

/**
 * The boundary to n8n with one item, no other node, and nothing but the given methods behind it: code that asks for anything else
 * fails its test.
 */
export function contextWith(methods: Partial<IExecuteFunctions>): IExecuteFunctions {
	const known: Record<string, unknown> = {
		getNode: () => node,
		getInputData: () => [{ json: {} }],
		getParentNodes: () => [],
		getChildNodes: () => [],
		...methods,
	};
	return new Proxy({} as IExecuteFunctions, {
		has: (_, name) => name in known,
		get: (_, name) => {
			if (typeof name === 'string' && name in known) return known[name];
			throw new Error(`the test gives the context no ${String(name)}`);
		},
	});
}

/** For items that send nothing. */
export const unconnected: Connection = {
	send: async () => await Promise.reject(new Error('the test gives the item no connection')),
	server: 'https://api.example.com',
	account: 'an account',
	credentialId: '',
};

/** What an item in a test is besides its parameters. */
interface ItemFacts {
	/** The parameters of its operation, whose names and defaults it knows. */
	fields?: INodeProperties[];
	index?: number;
	connection?: Connection;
	/** The JSON of the input item, from which n8n evaluates expressions. Without it, parameters are taken as they are. */
	json?: IDataObject;
	/** What else is asked of n8n. */
	methods?: Partial<IExecuteFunctions>;
}

/** An item that reads its parameters off an object, as n8n reads them off the node. */
export function itemOf(
	parameters: Record<string, unknown>,
	{ fields = [], index = 0, methods = {}, connection = unconnected, json }: ItemFacts = {},
): Item {
	const getNodeParameter = (name: string, _itemIndex: number, fallback?: unknown) => {
		const given: unknown = get(parameters, name, fallback);
		return json ? n8nValue(given, json) : given;
	};
	const own = isEmpty(parameters) ? node : { ...node, parameters: parameters as INodeParameters };
	const context = contextWith({
		// The overloads of n8n's method all come down to this one.
		getNodeParameter: getNodeParameter as IExecuteFunctions['getNodeParameter'],
		getInputData: () => Array.from({ length: index + 1 }, () => ({ json: json ?? {} })),
		getNode: () => own,
		evaluateExpression: (expression) => n8nValue(`=${expression}`, json ?? {}),
		...methods,
	});
	return new Item(context, index, fields, connection);
}
