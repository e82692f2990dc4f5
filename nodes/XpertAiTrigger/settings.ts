import type { IPollFunctions } from 'n8n-workflow';
import { z } from 'zod';

import { checked, flawMessage } from '../XpertAi/execution/badInput';
import type { Flaw } from '../XpertAi/execution/badInput';
import { operationError } from '../XpertAi/execution/operationError';
import { fieldValues } from '../XpertAi/execution/values';
import { uuid } from '../XpertAi/payloads/common';
import { EVENTS } from './events';
import { DEFAULT_PER_POLL, triggerFields } from './fields';

const options = z.object({
	conversationsPerPoll: z.number().int().min(1).default(DEFAULT_PER_POLL),
	includeMessages: z.boolean().default(false),
	onlyWith: z.string().trim().default(''),
});

const triggerSettings = z.object({
	events: z.array(z.enum(EVENTS)).min(1),
	assistantId: uuid.optional(),
	simplify: z.boolean().default(true),
	options: options.default({}),
});

export type TriggerSettings = z.infer<typeof triggerSettings>;

/**
 * Reads the parameters of the trigger.
 *
 * @throws NodeOperationError naming the parameter and what is expected
 */
export function readSettings(context: IPollFunctions): TriggerSettings {
	const refuse = (flaw: Flaw): never => {
		throw operationError(context.getNode(), flawMessage(flaw), {
			description: 'No poll was made. Correct the value, or the expression it comes from.',
		});
	};
	const raw = triggerFields.map(({ name, default: initial }) => [
		name,
		context.getNodeParameter(name, initial) as unknown,
	]);
	const values = fieldValues(
		refuse,
		triggerFields,
		Object.fromEntries(raw) as Record<string, unknown>,
	);
	const result = checked(triggerSettings, values, { fields: triggerFields });
	return 'flaw' in result ? refuse(result.flaw) : result.value;
}
