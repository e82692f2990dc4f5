import { answerThat } from '../../transport/answer';
import type { DeclaredOperation } from '../operation';
import { idField } from '../shared/fields';
import { documentIds } from './processingFields';

export const getStatus: DeclaredOperation = {
	value: 'getStatus',
	name: 'Get Processing Status',
	action: 'Get the processing status of documents',
	description:
		'Get how far the server has embedded documents. An Xpert AI server extension beyond the base contract.',
	endpoint: 'extension',
	method: 'GET',
	path: '/knowledges/{knowledgebaseId}/status?ids={documentIds*}',
	fields: [idField('knowledgebaseId', 'The knowledgebase the documents are in'), documentIds],
	repeatable: true,
	flawIn: answerThat(Array.isArray, 'it is not a list of documents'),
};
