import type { INodeProperties } from 'n8n-workflow';

import { atOnceOption, optionsField, simplify, timeoutOption } from '../../../execution/fields';
import type { Field } from '../../../execution/fields';
import { ID_PLACEHOLDER, threadLocator } from '../../../pickers/locators';

const runId: INodeProperties = {
	displayName: 'Run ID',
	name: 'runId',
	type: 'string',
	default: '={{ $json.runId }}',
	required: true,
	placeholder: ID_PLACEHOLDER,
	description: 'The run, by the runId that Thread: Start Run gave',
};

const named: Field[] = [
	threadLocator('The thread of the run: the threadId that Thread: Start Run gave'),
	runId,
];

const deadlineMinutes: INodeProperties = {
	displayName: 'Deadline (Minutes)',
	name: 'deadlineMinutes',
	type: 'number',
	typeOptions: { minValue: 0.01 },
	default: 15,
	description: 'How long to wait at most, also for hours; the run goes on after it',
};

/** The parameters of Thread: Get Run. */
export const numberedFields: Field[] = [
	...named,
	simplify,
	optionsField([atOnceOption(5), timeoutOption()]),
];

/** The parameters of Thread: Cancel Run. */
export const cancelFields: Field[] = [...named, optionsField([atOnceOption(5), timeoutOption()])];

/** The parameters of Thread: Wait for Run. */
export const waitedFields: Field[] = [
	...named,
	simplify,
	optionsField([deadlineMinutes, atOnceOption(5), timeoutOption()]),
];
