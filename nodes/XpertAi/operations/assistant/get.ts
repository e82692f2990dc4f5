import type { IDataObject } from 'n8n-workflow';
import get from 'lodash/get';
import { z } from 'zod';

import { answerAbout } from '../../execution/ids';
import { declare } from '../../execution/operation';
import { assistantLocator } from '../../pickers/locators';

export const getAssistant = declare({
	value: 'get',
	name: 'Get',
	action: 'Get assistant',
	description: 'Get an assistant, its knowledgebases and what its filters take',
	endpoint: 'extension',
	method: 'GET',
	path: '/assistants/{assistantId}',
	ids: { assistantId: assistantLocator('The assistant to read') },
	repeatable: true,
	checkAnswer: answerAbout('assistant', 'assistant_id'),
	simplify: assistantSummary,
});

/** What an assistant is called, what it knows and by which values it searches, and which steps of it ask a person first. */
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
		filterValues: filterValuesOf(get(assistant, 'config.agentConfig.retrievals')),
		stateVariables: get(assistant, 'config.agentConfig.stateVariables', []),
		waitsBefore: get(assistant, 'config.agentConfig.interruptBefore', []),
		updatedAt,
	};
}

/** A condition of a fixed filter that takes its value from a question; groups have none (recorded, `knowledge-filter-4`). */
const condition = z.object({
	field: z.string(),
	operator: z.string(),
	value: z.object({ selector: z.string() }),
});

/** The values that the filters of tools take from a question; those of steps are not shown. */
function filterValuesOf(retrievals: unknown): IDataObject[] {
	return Object.entries(retrievals ?? {}).flatMap(([knowledgebaseId, retrieval]) =>
		conditionsIn(get(retrieval, 'filtering.fixed')).flatMap((one) => {
			const { data } = condition.safeParse(one);
			if (!data) return [];
			const { field, operator, value } = data;
			const { selector } = value;
			const key = selector.replace(/^human\./, '');
			// Only values of the message count for one question alone (recorded, `knowledge-filter-3`).
			const staysOnThread = !/^(human|env)\./.test(selector);
			return { key, selector, field, operator, knowledgebaseId, staysOnThread };
		}),
	);
}

function conditionsIn(filter: unknown): unknown[] {
	const children: unknown = get(filter, 'children');
	return Array.isArray(children) ? children.flatMap(conditionsIn) : [filter];
}
