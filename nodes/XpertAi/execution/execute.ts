import { NodeOperationError } from 'n8n-workflow';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { findOperation } from '../catalogue';
import { isCoded } from '../operations/operation';
import { createSend } from '../transport/request';
import { hintAtEmptyItems } from './answers';
import { runDeclared } from './runDeclared';

/** Runs the operation the node is set to over all input items. */
export async function execute(context: IExecuteFunctions): Promise<INodeExecutionData[]> {
	const resource = context.getNodeParameter('resource', 0, '') as string;
	const name = context.getNodeParameter('operation', 0, '') as string;
	const operation = findOperation(resource, name);
	if (!operation) {
		throw new NodeOperationError(
			context.getNode(),
			`The node has no operation "${name}" for "${resource}"`,
			{
				description: 'Choose Resource and Operation from their lists.',
			},
		);
	}
	const send = await createSend(context);
	const output = isCoded(operation)
		? await operation.execute({ context, send })
		: await runDeclared(operation, { context, send });
	hintAtEmptyItems(context, output);
	return output;
}
