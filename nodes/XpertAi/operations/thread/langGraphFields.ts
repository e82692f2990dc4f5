import type { INodeProperties } from 'n8n-workflow';

/** Further fields of E4 that LangGraph servers know. */
export const langGraphFields: INodeProperties = {
	displayName: 'LangGraph Fields',
	name: 'langGraphFields',
	type: 'collection',
	placeholder: 'Add field',
	default: {},
	description: 'What servers that follow the LangGraph protocol take beyond the fields above',
	// Hidden and not shown: n8n drops values of parameters whose "show" asks for what is in a collection.
	displayOptions: { hide: { '/options.serverFamily': ['xpert'] } },
	options: [
		{
			displayName: 'After Seconds',
			name: 'after_seconds',
			type: 'number',
			default: 0,
			description: 'Seconds to wait before the run starts',
		},
		{
			displayName: 'Config',
			name: 'config',
			type: 'json',
			default: '{}',
			description: 'Tags, recursion_limit and configurable, as a JSON object',
		},
		{
			displayName: 'Context',
			name: 'context',
			type: 'json',
			default: '{}',
			description: 'Static context of the run, as a JSON object',
		},
		{
			displayName: 'If Not Exists',
			name: 'if_not_exists',
			type: 'options',
			options: [
				{ name: 'Create', value: 'create' },
				{ name: 'Reject', value: 'reject' },
			],
			default: 'reject',
			description: 'What to do when the thread does not exist',
		},
		{
			displayName: 'Interrupt After',
			name: 'interrupt_after',
			type: 'json',
			default: '[]',
			description: 'Nodes to interrupt the run after, as a JSON array of names',
		},
		{
			displayName: 'Interrupt Before',
			name: 'interrupt_before',
			type: 'json',
			default: '[]',
			description: 'Nodes to interrupt the run before, as a JSON array of names',
		},
		{
			displayName: 'Metadata',
			name: 'metadata',
			type: 'json',
			default: '{}',
			description: 'Metadata of the run, as a JSON object',
		},
		{
			displayName: 'Multitask Strategy',
			name: 'multitask_strategy',
			type: 'options',
			options: [
				{ name: 'Enqueue', value: 'enqueue' },
				{ name: 'Interrupt', value: 'interrupt' },
				{ name: 'Reject', value: 'reject' },
				{ name: 'Rollback', value: 'rollback' },
			],
			default: 'reject',
			description: 'What the server does when the thread is busy',
		},
		{
			displayName: 'On Completion',
			name: 'on_completion',
			type: 'options',
			options: [
				{ name: 'Delete', value: 'delete' },
				{ name: 'Keep', value: 'keep' },
			],
			default: 'keep',
			description: 'What becomes of a stateless thread after the run',
		},
		{
			displayName: 'Webhook',
			name: 'webhook',
			type: 'string',
			default: '',
			placeholder: 'e.g. https://example.com/done',
			description: 'Address the server calls when the run has ended',
		},
	],
};
