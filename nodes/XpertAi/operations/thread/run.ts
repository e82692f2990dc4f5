import type { CodedOperation } from '../../execution/operation';
import { anyRunBody } from '../../payloads/run';
import { WAIT_PATH } from '../../threads/runsApi';
import { runFields } from './run/fields';

export const run: CodedOperation = {
	value: 'run',
	name: 'Ask and Wait',
	action: 'Ask assistant and wait for answer',
	description: 'Ask an assistant and wait for its answer, also for hours',
	builderHint:
		'Ends in one item; with "status": "completed", "output" is the answer. Behind a Chat Trigger each visitor has a conversation of their own. Nothing has to be created before.',
	endpoint: 'E4',
	fields: runFields,
	request: { method: 'POST', path: WAIT_PATH, body: anyRunBody },
	// Loaded with the first run, as most processes of n8n only show the node.
	execute: async (execution) => await (await import('./run/ask')).execute(execution, 'message'),
};
