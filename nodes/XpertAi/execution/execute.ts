import get from 'lodash/get';
import memoize from 'lodash/memoize';
import { NodeOperationError, isExpression } from 'n8n-workflow';
import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeProperties,
	NodeParameterValueType,
} from 'n8n-workflow';

import { connectionsOf } from '../transport/request';
import { failureAsReply, forChat, isInChat, repliesFailures } from './outputFor';
import { runDeclared } from './runOperation';
import { Item } from './item';
import { isCoded, type Operation, type Resource } from './operation';
import { findPath } from './inputIssues';
import { operationFields } from './properties';

/** Runs the selected operation for all input items. */
export async function execute(
	given: IExecuteFunctions,
	catalogue: Resource[],
): Promise<INodeExecutionData[]> {
	const context = cachedContext(given);
	const connections = await connectionsOf(given);
	const itemsWith = (fields: INodeProperties[]) =>
		connections.map((connection, index) => new Item(context, index, fields, connection));
	try {
		const operation = chosenOperation(context, catalogue);
		const execution = { context, items: itemsWith(operationFields(operation)) };
		return isCoded(operation)
			? await operation.execute(execution)
			: await runDeclared(operation, execution);
	} catch (caught) {
		const isStopped = context.getExecutionCancelSignal()?.aborted === true;
		const [item] = itemsWith([]);
		if (isStopped || !item || !repliesFailures(context))
			throw isInChat(context) ? forChat(caught) : caught;
		return [item.output(failureAsReply(item.asError(caught)))];
	}
}

/** The selected operation. */
function chosenOperation(context: IExecuteFunctions, catalogue: Resource[]): Operation {
	const resource = context.getNodeParameter('resource', 0, '') as string;
	const name = context.getNodeParameter('operation', 0, '') as string;
	const operation = catalogue
		.find(({ value }) => value === resource)
		?.operations.find(({ value }) => value === name);
	if (operation) return operation;
	const message = `The node has no operation "${name}" for "${resource}"`;
	const description = 'Choose Resource and Operation from their lists.';
	throw new NodeOperationError(context.getNode(), message, { description });
}

/**
 * Caches what n8n recomputes for every item: `getNode` copies the whole node, and `getNodeParameter` resolves a
 * parameter even without an expression. With thousands of items and a mapper, both are expensive. Skips n8n's
 * validation of values, which searches all fields of the node: the fields ask for none, and the item checks what is
 * sent.
 */
export function cachedContext(context: IExecuteFunctions): IExecuteFunctions {
	const node = context.getNode();
	const isFixed = memoize((name: string) => {
		const parameter: unknown = get(node.parameters, name);
		return parameter !== undefined && findPath(parameter, isExpression) === undefined;
	});
	const resolve = (
		name: string,
		itemIndex: number,
		fallback?: NodeParameterValueType,
		{ extractValue = false }: { extractValue?: boolean } = {},
	): unknown =>
		context.getNodeParameter(name, itemIndex, fallback, { extractValue, skipValidation: true });
	const resolveOnce = memoize(resolve, (name, _index, _fallback, options) =>
		options?.extractValue ? `${name} extracted` : name,
	);
	const getNodeParameter: typeof resolve = (name, ...rest) =>
		isFixed(name) ? resolveOnce(name, ...rest) : resolve(name, ...rest);
	return Object.create(context, {
		getNode: { value: () => node },
		getNodeParameter: { value: getNodeParameter },
	}) as IExecuteFunctions;
}
