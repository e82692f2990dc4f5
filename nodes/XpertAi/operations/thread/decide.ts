import type { CodedOperation } from '../../execution/operation';
import { anyRunBody } from '../../payloads/run';
import { RUN_PATH } from '../../runs/run';
import { decideFields } from './run/fields';

export const decide: CodedOperation = {
	value: 'decide',
	name: 'Decide',
	action: 'Decide on waiting run',
	description: 'Confirm or reject what a run waits for a person to approve, and wait for its end',
	endpoint: 'E4',
	fields: decideFields,
	request: { method: 'POST', path: RUN_PATH, body: anyRunBody },
	execute: async (execution) =>
		await (await import('./run/execute')).execute(execution, 'decision'),
};
