import type { IDataObject } from 'n8n-workflow';
import get from 'lodash/get';
import { z } from 'zod';

import { recordAbout } from '../../execution/ids';
import { declare } from '../../execution/operation';
import { assistantLocator } from '../../pickers/locators';

export const getAssistant = declare({
	value: 'get',
	name: 'Get',
	action: 'Get assistant',
	endpoint: 'beyond',
	description: 'Get an assistant, its knowledgebases and what its filters take',
	method: 'GET',
	path: '/assistants/{assistantId}',
	ids: [assistantLocator('The assistant to read')],
	repeatable: true,
	answer: recordAbout('assistant', 'assistant_id'),
	simplify: assistantSummary,
});

/** Name, knowledgebases, filter values and approval steps of an assistant. */
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
		filterValues: filterConditions(get(assistant, 'config.agentConfig.retrievals')),
		stateVariables: get(assistant, 'config.agentConfig.stateVariables', []),
		waitsBefore: get(assistant, 'config.agentConfig.interruptBefore', []),
		updatedAt,
	};
}

/**
 * A condition of a fixed filter that takes its value from the question; a group is none (recorded,
 * `knowledge-filter-4`).
 */
const condition = z.object({
	field: z.string(),
	operator: z.string(),
	value: z.object({ selector: z.string() }),
});

/** The values that the filters of tools take from a question; the server does not show those of workflow steps. */
function filterConditions(retrievals: unknown): IDataObject[] {
	return Object.entries(retrievals ?? {}).flatMap(([knowledgebaseId, retrieval]) =>
		conditionsIn(get(retrieval, 'filtering.fixed')).flatMap((one) => {
			const { data } = condition.safeParse(one);
			if (!data) return [];
			const { field, operator, value } = data;
			const { selector } = value;
			const key = selector.replace(/^human\./, '');
			// Only values of the message apply to a single question (recorded, `knowledge-filter-3`).
			const staysOnThread = !/^(human|env)\./.test(selector);
			return { key, selector, field, operator, knowledgebaseId, staysOnThread };
		}),
	);
}

function conditionsIn(filter: unknown): unknown[] {
	const children: unknown = get(filter, 'children');
	return Array.isArray(children) ? children.flatMap(conditionsIn) : [filter];
}
