import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod';

import { optionsField } from '../../../execution/fields';

/** The collection Options of Run and Wait. */
export const runOptions: INodeProperties = optionsField([
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
		displayName: 'Failures as Replies',
		name: 'failuresAsReplies',
		type: 'boolean',
		default: false,
		description:
			'Whether to give the reason of a run without an answer as the reply, on the success output. For AI agents that take an empty text from a tool that fails, and for chats.',
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
			{
				name: 'Run Anyway',
				value: 'run',
				description:
					'For a thread left busy by a restarted server. Beside a run that goes on, messages get lost.',
			},
			{ name: 'Wait', value: 'wait', description: 'Wait until the other run has ended' },
		],
		default: 'wait',
		description: 'What to do when another run is going on on the thread',
	},
]);

/** How a run is to be gone about, whatever is said to the assistant. */
export const runSettings = z.object({
	simplify: z.boolean(),
	options: z.object({
		/** At most what a timer of Node.js can wait. */
		deadlineMinutes: z.number().positive().min(0.001).max(35_791),
		concurrency: z.number().int().min(1).max(50),
		title: z.string().trim(),
		whenBusy: z.enum(['wait', 'fail', 'run']),
	}),
});

export type RunOptions = z.infer<typeof runSettings>['options'];
