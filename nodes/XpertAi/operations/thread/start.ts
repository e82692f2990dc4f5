import type { CodedOperation } from '../../execution/operation';
import { anyRunBody } from '../../payloads/run';
import { RUNS_PATH } from '../../threads/runsApi';
import { startFields } from './run/fields';

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
	execute: async (execution) => await (await import('./run/start')).execute(execution),
};
