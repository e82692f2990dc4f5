import { NodeOperationError } from 'n8n-workflow';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { CREDENTIAL_NAME } from '../transport/api';
import { createSend, secretsOf } from '../transport/request';
import { failureAsReply, forChat, isInChat, repliesFailures } from './audience';
import { cachedContext } from './cachedContext';
import { runDeclared } from './declared';
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
	try {
		return await runOperation(context, chosenOperation(context, catalogue));
	} catch (caught) {
		const isStopped = context.getExecutionCancelSignal()?.aborted === true;
		if (isStopped || !repliesFailures(context)) throw isInChat(context) ? forChat(caught) : caught;
		const item = new Item(context, 0);
		return [item.output(failureAsReply(item.asError(caught)))];
	}
}

async function runOperation(
	context: IExecuteFunctions,
	operation: Operation,
): Promise<INodeExecutionData[]> {
	const send = await createSend(context);
	const fields = operationFields(operation);
	const secrets = secretsOf(await context.getCredentials(CREDENTIAL_NAME));
	const items = context.getInputData().map((_, index) => new Item(context, index, fields, secrets));
	const execution = { context, send, items };
	return isCoded(operation)
		? await operation.execute(execution)
		: await runDeclared(operation, execution);
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
