import type { CodedOperation } from '../../execution/operation';
import { CANCEL_PATH } from '../../threads/runsApi';
import { cancelFields } from './run/runByIdFields';

export const cancelRun: CodedOperation = {
	value: 'cancelRun',
	name: 'Cancel Run',
	action: 'Cancel run',
	description: 'Cancel a running run',
	endpoint: 'extension',
	fields: cancelFields,
	request: { method: 'POST', path: CANCEL_PATH },
	execute: async (execution) =>
		await (await import('./run/runById')).execute(execution, 'cancelRun'),
};
