import { splitIds } from '../../execution/readFields';
import { idList } from '../../payloads/common';
import type { DeclaredOperation } from '../operation';
import { idField } from '../shared/fields';
import { documentIds } from './processingFields';

export const startProcessing: DeclaredOperation = {
	value: 'process',
	name: 'Start Processing',
	action: 'Start processing documents',
	description:
		'Have the server embed stored documents, which storing alone does not. An Xpert AI server extension beyond the base contract.',
	endpoint: 'extension',
	method: 'POST',
	path: '/knowledges/{knowledgebaseId}/process',
	fields: [idField('knowledgebaseId', 'The knowledgebase the documents are in')],
	body: {
		fields: [documentIds],
		schema: idList,
		compose: ({ documentIds: ids = '' }) => (typeof ids === 'string' ? splitIds(ids) : ids),
		labels: { '': 'Document IDs' },
		example: '[\n  "2f78e81b-096f-42ff-8ac0-8403fd81392d"\n]',
	},
	simplify: ['id', 'name', 'status', 'progress', 'processMsg'],
};
