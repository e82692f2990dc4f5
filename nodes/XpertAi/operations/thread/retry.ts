import type { CodedOperation } from '../../execution/operation';
import { anyRunBody } from '../../payloads/run';
import { WAIT_PATH } from '../../threads/runsApi';
import { retryRunFields } from './run/fields';

export const retry: CodedOperation = {
	value: 'retry',
	name: 'Answer Again',
	action: 'Answer last message again',
	description: 'Answer the last message of a thread again, in place of the earlier answer',
	endpoint: 'E4',
	fields: retryRunFields,
	request: { method: 'POST', path: WAIT_PATH, body: anyRunBody },
	execute: async (execution) => await (await import('./run/ask')).execute(execution, 'retry'),
};
