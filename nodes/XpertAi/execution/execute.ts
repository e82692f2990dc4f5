import { NodeApiError, NodeOperationError } from 'n8n-workflow';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { CREDENTIAL_NAME } from '../transport/api';
import { createSend, secretsOf } from '../transport/request';
import { cachedContext } from './cachedContext';
import { isInChat, sentencesWithoutIds } from './chatWords';
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
	const operation = chosenOperation(given, catalogue);
	const context = cachedContext(given);
	const send = await createSend(context);
	const fields = operationFields(operation);
	const secrets = secretsOf(await context.getCredentials(CREDENTIAL_NAME));
	const items = context.getInputData().map((_, index) => new Item(context, index, fields, secrets));
	const execution = { context, send, items };
	try {
		return isCoded(operation)
			? await operation.execute(execution)
			: await runDeclared(operation, execution);
	} catch (caught) {
		throw isInChat(context) ? forChat(caught) : caught;
	}
}

/** Where a chat listens, n8n shows it the description of what stops a workflow. */
function forChat(caught: unknown): unknown {
	if (caught instanceof NodeApiError || caught instanceof NodeOperationError)
		caught.description = sentencesWithoutIds(caught.description ?? '');
	return caught;
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
