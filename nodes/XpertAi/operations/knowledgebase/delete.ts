import { deletedItem } from '../../transport/answer';
import type { DeclaredOperation } from '../operation';
import { idField } from '../shared/fields';

export const deleteKnowledgebase: DeclaredOperation = {
	value: 'delete',
	name: 'Delete',
	action: 'Delete a knowledgebase',
	description: 'Delete a knowledgebase and all its documents',
	endpoint: 'E17',
	method: 'DELETE',
	path: '/v1/kb/{knowledgebaseId}',
	fields: [idField('knowledgebaseId', 'The knowledgebase to delete, with all its documents')],
	shape: deletedItem,
};
