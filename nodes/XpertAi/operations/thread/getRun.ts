import type { CodedOperation } from '../../execution/operation';
import { ONE_RUN_PATH } from '../../threads/runsApi';
import { runByIdFields } from './run/runByIdFields';

export const getRun: CodedOperation = {
	value: 'getRun',
	name: 'Get Run',
	action: 'Get run',
	description: 'Get the status of a run, and its answer once it has ended',
	endpoint: 'extension',
	fields: runByIdFields,
	request: { method: 'GET', path: ONE_RUN_PATH },
	execute: async (execution) => await (await import('./run/runById')).execute(execution, 'getRun'),
};
