import { NodeOperationError } from 'n8n-workflow';
import type { INode } from 'n8n-workflow';

/** An error of ours, in our words. */
export function operationError(
	node: INode,
	message: string,
	options: { description?: string; itemIndex?: number } = {},
): NodeOperationError {
	const error = new NodeOperationError(node, message, options);
	// n8n swaps messages that happen to hold a network code, such as a user's text.
	error.message = message;
	return error;
}
