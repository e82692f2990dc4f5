import get from 'lodash/get';
import { isExpression } from 'n8n-workflow';
import type { IExecuteFunctions, NodeParameterValueType } from 'n8n-workflow';

import { placeOf } from './places';

/**
 * The same context for work on very many items. n8n copies the whole node at each `getNode`, and
 * resolves a parameter anew for each item, also one without an expression; a mapper with all fields
 * makes both dear. Here the node is copied once, and what is the same for all items is resolved once.
 * n8n's own check of a value against its field, which first looks for that field among all of the node,
 * is left out: the fields ask for none, and the item checks what is sent.
 */
export function cachedContext(context: IExecuteFunctions): IExecuteFunctions {
	const node = context.getNode();
	const fixed = new Map<string, boolean>();
	const values = new Map<string, unknown>();
	const isFixed = (name: string) => {
		const known = fixed.get(name);
		if (known !== undefined) return known;
		const parameter: unknown = get(node.parameters, name);
		const result = parameter !== undefined && placeOf(parameter, isExpression) === undefined;
		fixed.set(name, result);
		return result;
	};
	const resolved = (
		name: string,
		itemIndex: number,
		fallback: NodeParameterValueType | undefined,
		extractValue: boolean,
	): unknown =>
		context.getNodeParameter(name, itemIndex, fallback, { extractValue, skipValidation: true });
	const getNodeParameter = (
		name: string,
		itemIndex: number,
		fallback?: NodeParameterValueType,
		{ extractValue = false }: { extractValue?: boolean } = {},
	): unknown => {
		if (!isFixed(name)) return resolved(name, itemIndex, fallback, extractValue);
		const key = extractValue ? `${name} extracted` : name;
		if (!values.has(key)) values.set(key, resolved(name, itemIndex, fallback, extractValue));
		return values.get(key);
	};
	return Object.create(context, {
		getNode: { value: () => node },
		getNodeParameter: { value: getNodeParameter },
	}) as IExecuteFunctions;
}
