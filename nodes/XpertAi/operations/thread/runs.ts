import type { CodedOperation } from '../../execution/operation';
import { anyRunBody } from '../../payloads/run';
import { CANCEL_PATH, ONE_RUN_PATH, RUNS_PATH } from '../../threads/runsApi';
import { cancelFields, runByIdFields, startFields } from './run/fields';

/* The operations on run IDs, which the contract lacks. */

export const start: CodedOperation = {
	value: 'start',
	name: 'Start Run',
	action: 'Start run',
	description: 'Ask an assistant without waiting, and get the runId',
	builderHint:
		'For runs that take minutes: its runId and threadId go to Wait for Run, to Get Run after a Wait node, or the Xpert AI Trigger starts another workflow when it has ended.',
	endpoint: 'extension',
	fields: startFields,
	request: { method: 'POST', path: RUNS_PATH, body: anyRunBody },
	execute: async (execution) => await (await import('./run/ask')).executeStart(execution),
};

/** Thread: Get Run, Wait for Run or Cancel Run. */
function byId(
	value: 'getRun' | 'waitForRun' | 'cancelRun',
	shown: Pick<CodedOperation, 'name' | 'action' | 'description' | 'request' | 'fields'>,
): CodedOperation {
	const endpoint = 'extension';
	return {
		...{ value, ...shown, endpoint },
		execute: async (execution) => await (await import('./run/runById')).execute(execution, value),
	};
}

export const getRun = byId('getRun', {
	name: 'Get Run',
	action: 'Get run',
	description: 'Get the status of a run, and its answer once it has ended',
	fields: runByIdFields,
	request: { method: 'GET', path: ONE_RUN_PATH },
});

export const waitForRun = byId('waitForRun', {
	name: 'Wait for Run',
	action: 'Wait for run',
	description: 'Wait until a run has ended, and get its answer',
	fields: runByIdFields,
	request: { method: 'GET', path: ONE_RUN_PATH },
});

export const cancelRun = byId('cancelRun', {
	name: 'Cancel Run',
	action: 'Cancel run',
	description: 'Cancel a running run',
	fields: cancelFields,
	request: { method: 'POST', path: CANCEL_PATH },
});
