import type { CodedOperation } from '../../execution/operation';
import { anyRunBody } from '../../payloads/run';
import { WAIT_PATH } from '../../threads/runsApi';
import { decideFields } from './run/fields';

export const decide: CodedOperation = {
	value: 'decide',
	name: 'Decide',
	action: 'Decide on waiting run',
	description: 'Confirm or reject what a run waits for a person to approve, and wait for its end',
	builderHint:
		'Only for a thread whose run came out with "status": "interrupted", or that the trigger gave as waiting. Ask a person first.',
	endpoint: 'E4',
	fields: decideFields,
	request: { method: 'POST', path: WAIT_PATH, body: anyRunBody },
	execute: async (execution) => await (await import('./run/ask')).execute(execution, 'decision'),
};
