import chunk from 'lodash/chunk';

import { splitIds } from '../../execution/ids';
import { IDS_TO_START } from '../../ingest/idsToStart';
import { idList } from '../../payloads/common';
import { mustListDocuments } from '../../ingest/answeredRecords';
import { declare } from '../../execution/operation';
import { knowledgebaseLocator } from '../../pickers/locators';
import { itemPerDocument } from './askedDocuments';
import { PROCESS_PATH } from './paths';
import { documentIds } from './processingFields';

export const startProcessing = declare({
	value: 'process',
	name: 'Start Processing',
	action: 'Start processing documents',
	description: 'Have the server read stored documents, so that assistants find them',
	endpoint: 'extension',
	method: 'POST',
	path: PROCESS_PATH,
	ids: { knowledgebaseId: knowledgebaseLocator },
	body: {
		fields: [documentIds],
		schema: idList,
		compose: ({ documentIds: ids = '' }) => (typeof ids === 'string' ? splitIds(ids) : ids),
		sources: { '': 'documentIds' },
		split: (ids) => (Array.isArray(ids) ? chunk(ids, IDS_TO_START) : [ids]),
		example: '[\n  "2f78e81b-096f-42ff-8ac0-8403fd81392d"\n]',
	},
	shape: (answer, asked) =>
		itemPerDocument(answer, asked, (id) => ({ id, queued: false }), { queued: true }),
	simplify: ['id', 'name', 'queued', 'status', 'progress', 'processMsg'],
	checkAnswer: mustListDocuments,
});
