import type { INodeProperties } from 'n8n-workflow';

import { optionsField } from '../shared/fields';

const options = optionsField([
	{
		displayName: 'Deadline (Minutes)',
		name: 'deadlineMinutes',
		type: 'number',
		typeOptions: { minValue: 0.01 },
		default: 15,
		description:
			'How long a run may take in all, also for hours. It covers waiting for the thread, the run itself and taking up a broken wait.',
	},
	{
		displayName: 'Runs at Once',
		name: 'concurrency',
		type: 'number',
		typeOptions: { minValue: 1, maxValue: 50, numberPrecision: 0 },
		default: 5,
		description:
			'How many threads run side by side. Runs on the same thread always go one after another.',
	},
	{
		displayName: 'Server',
		name: 'serverFamily',
		type: 'options',
		options: [
			{
				name: 'LangGraph',
				value: 'langgraph',
				description: 'A server that follows the LangGraph protocol',
			},
			{ name: 'Xpert AI', value: 'xpert' },
		],
		default: 'xpert',
		description: 'Which kind of server runs the thread. LangGraph servers take further fields.',
	},
	{
		displayName: 'Title',
		name: 'title',
		type: 'string',
		default: '',
		description: 'Title of a new conversation; the start of the message without it',
	},
	{
		displayName: 'When the Thread Is Busy',
		name: 'whenBusy',
		type: 'options',
		options: [
			{ name: 'Fail', value: 'fail', description: 'Say so at once' },
			{ name: 'Wait', value: 'wait', description: 'Wait until the other run has ended' },
		],
		default: 'wait',
		description: 'What to do when another run is going on on the thread',
	},
]);

/** The collection Options of Run and Wait. A new node says its server, which LangGraph Fields go by. */
export const runOptions: INodeProperties = { ...options, default: { serverFamily: 'xpert' } };
