import { deletedItem } from '../../execution/outputs';
import { recordWith } from '../../transport/answer';
import { declare } from '../../execution/operation';
import { knowledgebaseLocator } from '../../pickers/locators';

export const deleteKnowledgebase = declare({
	value: 'delete',
	name: 'Delete',
	action: 'Delete knowledgebase',
	endpoint: 'E17',
	description: 'Delete a knowledgebase and all its documents',
	method: 'DELETE',
	path: '/v1/kb/{knowledgebaseId}',
	ids: [knowledgebaseLocator],
	shape: deletedItem,
	answer: recordWith('affected'),
});
