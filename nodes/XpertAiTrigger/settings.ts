import type { IPollFunctions } from 'n8n-workflow';
import { z } from 'zod';

import { flawMessage } from '../XpertAi/execution/badInput';
import { operationError } from '../XpertAi/execution/operationError';
import { readSettings as readParameters } from '../XpertAi/execution/settings';
import { uuid } from '../XpertAi/payloads/common';
import { EVENTS } from './events';
import { triggerFields } from './fields';

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
 * @throws NodeOperationError naming the parameter and what is expected
 */
export function readSettings(context: IPollFunctions): TriggerSettings {
	return readParameters(
		triggerSettings,
		triggerFields,
		(name, initial) => context.getNodeParameter(name, initial) as unknown,
		(flaw) => {
			throw operationError(context.getNode(), flawMessage(flaw), {
				description: 'No poll was made. Correct the value, or the expression it comes from.',
			});
		},
	);
}
