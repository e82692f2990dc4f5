import type { IPollFunctions, NodeParameterValueType } from 'n8n-workflow';
import { z } from 'zod';

import { flawMessage } from '../XpertAi/execution/badInput';
import type { Refuse } from '../XpertAi/execution/badInput';
import { operationError } from '../XpertAi/execution/outputs';
import { fixedExpression } from '../XpertAi/execution/rawParameters';
import { readSettings } from '../XpertAi/execution/values';
import { uuid } from '../XpertAi/payloads/common';
import { EVENTS, triggerFields } from './fields';

const triggerSettings = z.object({
	events: z.array(z.enum(EVENTS)).min(1),
	assistantId: uuid.optional(),
	simplify: z.boolean(),
	options: z.object({
		conversationsPerPoll: z.number().int().min(1),
		includeMessages: z.boolean(),
		onlyWith: z.string().trim(),
	}),
});

export type TriggerSettings = z.infer<typeof triggerSettings>;

/**
 * Reads the parameters of the trigger.
 *
 * @throws NodeOperationError naming the parameter and the requirement
 */
export function readTriggerSettings(context: IPollFunctions): TriggerSettings {
	const node = context.getNode();
	const refuse: Refuse = (flaw) => {
		const { cure = 'Correct the value, or the expression it comes from.' } = flaw;
		throw operationError(node, flawMessage(flaw), { description: `No poll was made. ${cure}` });
	};
	const read = (name: string, initial: NodeParameterValueType): unknown => {
		const flaw = fixedExpression(node, name, triggerFields);
		return flaw ? refuse(flaw) : context.getNodeParameter(name, initial);
	};
	return readSettings(triggerSettings, triggerFields, read, refuse);
}
