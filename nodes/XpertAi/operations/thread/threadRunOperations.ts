import type { CodedOperation } from '../../execution/operation';
import type { RunKind } from '../../runs/runBody';
import type { RunIdOperation } from './run/executeRunIdOperation';
import {
	askAndWaitFields,
	cancelFields,
	decideFields,
	retryRunFields,
	runByIdFields,
	startFields,
} from './run/fields';

/* The imports are dynamic, so a process that only displays the node does not load the code of these operations. */

/** Returns the `execute` of the operations "Ask and Wait", "Start Run", "Decide" and "Answer Again". */
const newExecuteAsking =
	(kind: RunKind, then: 'wait' | 'leave' = 'wait'): CodedOperation['execute'] =>
	async (execution) =>
		await (await import('./run/executeAsking')).executeAsking(execution, kind, then);

/** Returns the `execute` of the operations "Get Run", "Wait for Run" and "Cancel Run". */
const newExecuteRunIdOperation =
	(operation: RunIdOperation): CodedOperation['execute'] =>
	async (execution) =>
		await (await import('./run/executeRunIdOperation')).executeRunIdOperation(execution, operation);

/** The operations in display order, without `endpoint`, which is the same for all. */
const operations: Array<Omit<CodedOperation, 'endpoint'>> = [
	{
		value: 'run',
		name: 'Ask and Wait',
		action: 'Ask assistant and wait for answer',
		fallbackEndpoint: 'E4',
		description: 'Ask an assistant and wait for its answer, also for hours',
		builderHint:
			'Ends in one item; with "status": "completed", "output" is the answer. Behind a Chat Trigger each visitor has a conversation of their own. Nothing has to be created before.',
		fields: askAndWaitFields,
		execute: newExecuteAsking('message'),
	},
	{
		value: 'start',
		name: 'Start Run',
		action: 'Start run',
		description: 'Ask an assistant without waiting, and get the runId',
		builderHint:
			'For runs that take minutes: its runId and threadId go to Wait for Run, to Get Run after a Wait node, or the Xpert AI Trigger starts another workflow when it has ended.',
		fields: startFields,
		execute: newExecuteAsking('message', 'leave'),
	},
	{
		value: 'getRun',
		name: 'Get Run',
		action: 'Get run',
		description: 'Get the status of a run, and its answer once it has ended',
		fields: runByIdFields,
		execute: newExecuteRunIdOperation('getRun'),
	},
	{
		value: 'waitForRun',
		name: 'Wait for Run',
		action: 'Wait for run',
		description: 'Wait until a run has ended, and get its answer',
		fields: runByIdFields,
		execute: newExecuteRunIdOperation('waitForRun'),
	},
	{
		value: 'cancelRun',
		name: 'Cancel Run',
		action: 'Cancel run',
		description: 'Cancel a running run',
		fields: cancelFields,
		execute: newExecuteRunIdOperation('cancelRun'),
	},
	{
		value: 'decide',
		name: 'Decide',
		action: 'Decide on waiting run',
		fallbackEndpoint: 'E4',
		description: 'Confirm or reject what a run waits for a person to approve, and wait for its end',
		builderHint:
			'Only for a thread whose run came out with "status": "interrupted", or that the trigger gave as waiting. Ask a person first.',
		fields: decideFields,
		execute: newExecuteAsking('decision'),
	},
	{
		value: 'retry',
		name: 'Answer Again',
		action: 'Answer last message again',
		fallbackEndpoint: 'E4',
		description: 'Answer the last message of a thread again, in place of the earlier answer',
		fields: retryRunFields,
		execute: newExecuteAsking('retry'),
	},
];

export const threadRunOperations = operations.map(
	(one): CodedOperation => ({ ...one, endpoint: 'beyond' }),
);
