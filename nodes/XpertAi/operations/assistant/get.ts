import type { IDataObject } from 'n8n-workflow';
import get from 'lodash/get';

import { answerAbout } from '../../execution/ids';
import { declare } from '../../execution/operation';
import { assistantLocator } from '../../pickers/locators';

export const getAssistant = declare({
	value: 'get',
	name: 'Get',
	action: 'Get assistant',
	description: 'Get an assistant and its knowledgebases',
	endpoint: 'extension',
	method: 'GET',
	path: '/assistants/{assistantId}',
	ids: { assistantId: assistantLocator('The assistant to read') },
	repeatable: true,
	checkAnswer: answerAbout('assistant', 'assistant_id'),
	simplify: assistantSummary,
});

/** What an assistant is called, what it knows, and which steps of it ask a person first. */
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
		waitsBefore: get(assistant, 'config.agentConfig.interruptBefore', []),
		updatedAt,
	};
}
