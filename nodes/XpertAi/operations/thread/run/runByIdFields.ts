import type { INodeProperties } from 'n8n-workflow';

import { answerOutput } from '../../../execution/fields';
import type { Field } from '../../../execution/fields';
import { ID_PLACEHOLDER, threadOfRun } from '../../../pickers/locators';
import { runOptions } from './options';

const runId: INodeProperties = {
	displayName: 'Run ID',
	name: 'runId',
	type: 'string',
	default: '={{ $json.runId }}',
	required: true,
	placeholder: ID_PLACEHOLDER,
	description: 'The run, by the runId that Thread: Start Run gave',
};

const idFields: Field[] = [threadOfRun, runId];

/** The parameters of Thread: Get Run and of Thread: Wait for Run. */
export const runByIdFields: Field[] = [...idFields, ...answerOutput, runOptions];

/** The parameters of Thread: Cancel Run. */
export const cancelFields: Field[] = [...idFields, runOptions];
