import get from 'lodash/get';
import type { IExecuteFunctions } from 'n8n-workflow';

/**
 * How the execution was started, for a sub-workflow the outermost one: n8n itself calls a sub-workflow `integrated`.
 * n8n 2.20 and later tell the mode of the outermost execution, except to a workflow that is an agent's tool. There, and
 * in older versions, it is the mode of the calling workflow, which is `integrated` where that is a sub-workflow itself.
 */
export function outermostMode(context: IExecuteFunctions): unknown {
	const mode = context.getMode();
	if (mode !== 'integrated') return mode;
	return (
		get(context, 'additionalData.rootExecutionMode') ??
		get(context, 'runExecutionData.parentExecution.executionContext.source', mode)
	);
}

/** Whether somebody tries the workflow in the editor. */
export const isTest = (context: IExecuteFunctions): boolean => outermostMode(context) === 'manual';
