import { NodeOperationError } from 'n8n-workflow';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { connectionsOf } from '../transport/connections';
import { failureAsReply, forChat, isInChat, repliesFailures } from './audience';
import { cachedContext } from './cachedContext';
import { runDeclared } from './declared';
import type { Field } from './fields';
import { Item } from './item';
import { isCoded } from './operation';
import type { Operation, Resource } from './operation';
import { operationFields } from './properties';

/** Runs the operation the node is set to over all input items. */
export async function execute(
	given: IExecuteFunctions,
	catalogue: Resource[],
): Promise<INodeExecutionData[]> {
	const context = cachedContext(given);
	const connections = await connectionsOf(context);
	const itemsWith = (fields: Field[]) =>
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

/** The operation a node is set to. */
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
