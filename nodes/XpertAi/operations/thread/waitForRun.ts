import type { CodedOperation } from '../../execution/operation';
import { ONE_RUN_PATH } from '../../threads/runsApi';
import { runByIdFields } from './run/runByIdFields';

export const waitForRun: CodedOperation = {
	value: 'waitForRun',
	name: 'Wait for Run',
	action: 'Wait for run',
	description: 'Wait until a run has ended, and get its answer',
	endpoint: 'extension',
	fields: runByIdFields,
	request: { method: 'GET', path: ONE_RUN_PATH },
	execute: async (execution) =>
		await (await import('./run/runById')).execute(execution, 'waitForRun'),
};
