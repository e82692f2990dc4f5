import { mustListDocuments } from '../../ingest/answeredRecords';
import { declare } from '../../execution/operation';
import { knowledgebaseLocator } from '../../pickers/locators';
import { itemPerDocument } from './askedDocuments';
import { STATUS_PATH } from './paths';
import { documentIds } from './processingFields';

export const getStatus = declare({
	value: 'getStatus',
	name: 'Get Processing Status',
	action: 'Get processing status of documents',
	description: 'Get how far the server has come with processing documents',
	endpoint: 'extension',
	method: 'GET',
	path: STATUS_PATH,
	ids: {
		knowledgebaseId: knowledgebaseLocator,
		documentIds,
	},
	repeatable: true,
	shape: (answer, asked) => itemPerDocument(answer, asked, (id) => ({ id, status: 'unknown' })),
	checkAnswer: mustListDocuments,
});
