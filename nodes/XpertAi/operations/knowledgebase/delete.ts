import { declare } from '../../execution/operation';
import { knowledgebaseLocator } from '../../pickers/locators';

export const deleteKnowledgebase = declare({
	value: 'delete',
	name: 'Delete',
	endpoint: 'E17',
	description: 'Delete a knowledgebase and all its documents',
	route: 'DELETE /v1/kb/{knowledgebaseId}',
	idFields: [knowledgebaseLocator],
	answerSchema: ['affected'],
});
