import type { IDataObject } from 'n8n-workflow';
import { get } from 'lodash';
import { z } from 'zod';

import { schemaOfAskedRecord } from '../../transport/answerSchemas';
import { declare } from '../../execution/operation';
import { assistantLocator } from '../../pickers/locators';

export const getAssistant = declare({
	value: 'get',
	name: 'Get',
	endpoint: 'beyond',
	description: 'Get an assistant, its knowledgebases and what its filters take',
	route: 'GET /assistants/{assistantId}',
	idFields: [assistantLocator('The assistant to read')],
	answerSchema: schemaOfAskedRecord('assistant', 'assistant_id'),
	simplify: assistantSummary,
});

function assistantSummary(assistant: IDataObject): IDataObject {
	const { assistant_id: assistantId, name, description, updated_at: updatedAt } = assistant;
	return {
		assistantId,
		name,
		title: get(assistant, 'metadata.title', null),
		slug: get(assistant, 'metadata.slug', null),
		description,
		workspaceId: get(assistant, 'metadata.workspaceId', null),
		knowledgebaseIds: Object.keys(get(assistant, 'config.options.knowledge', {}) ?? {}),
		filterValues: requestedFilterValues(get(assistant, 'config.agentConfig.retrievals')),
		stateVariables: get(assistant, 'config.agentConfig.stateVariables', []),
		waitsBefore: get(assistant, 'config.agentConfig.interruptBefore', []),
		updatedAt,
	};
}

/** A filter condition whose value comes from a run of the assistant. A condition with a constant value does not match. */
const runValueConditionSchema = z.object({
	field: z.string(),
	operator: z.string(),
	value: z.object({ selector: z.string() }),
});

/**
 * Lists the values that knowledgebase filters take from a run of the assistant. The list lacks the filters of workflow
 * steps, because servers do not return them.
 */
function requestedFilterValues(retrievals: unknown): IDataObject[] {
	return Object.entries(retrievals ?? {}).flatMap(([knowledgebaseId, retrieval]) =>
		conditionsIn(get(retrieval, 'filtering.fixed')).flatMap((found) => {
			const { data } = runValueConditionSchema.safeParse(found);
			if (!data) return [];
			const { field, operator, value } = data;
			const { selector } = value;
			const key = selector.replace(/^human\./, '');
			// A thread keeps the values of state variables for later questions. It does not keep values of a message
			// (`human.`) or of the environment (`env.`).
			const staysOnThread = !/^(human|env)\./.test(selector);
			return { key, selector, field, operator, knowledgebaseId, staysOnThread };
		}),
	);
}

/** Returns the conditions of a filter, which can be a tree. A filter without children is itself a condition. */
function conditionsIn(filter: unknown): unknown[] {
	const children: unknown = get(filter, 'children');
	return Array.isArray(children) ? children.flatMap(conditionsIn) : [filter];
}
