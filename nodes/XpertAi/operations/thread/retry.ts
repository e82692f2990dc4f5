import type { CodedOperation } from '../../execution/operation';
import { anyRunBody } from '../../payloads/run';
import { WAIT_PATH } from '../../threads/runsApi';
import { retryRunFields } from './run/fields';

export const retry: CodedOperation = {
	value: 'retry',
	name: 'Answer Again',
	action: 'Answer last message again',
	description: 'Have the last message of a thread answered anew; question and answer are replaced',
	endpoint: 'E4',
	fields: retryRunFields,
	request: { method: 'POST', path: WAIT_PATH, body: anyRunBody },
	execute: async (execution) => await (await import('./run/execute')).execute(execution, 'retry'),
};
