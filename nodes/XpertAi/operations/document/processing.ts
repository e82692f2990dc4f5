import chunk from 'lodash/chunk';
import type { IDataObject } from 'n8n-workflow';

import { textField } from '../../execution/fields';
import { splitList } from '../../execution/ids';
import { declare } from '../../execution/operation';
import { documentList } from '../../ingest/answeredRecords';
import { IDS_TO_START } from '../../ingest/processingStatus';
import { idList } from '../../payloads/common';
import { knowledgebaseLocator } from '../../pickers/locators';

/**
 * One item for each requested document, in the order requested: servers answer in any order and in lower case, and
 * leave out documents they do not know.
 *
 * @param answer a list of documents, as `documentList` checks
 * @param requestedIds a list of IDs
 * @param missing makes the item of a document that the answer leaves out
 * @param foundFields what is added to the others
 */
function itemPerDocument(
	answer: unknown,
	requestedIds: unknown,
	missing: (id: string) => IDataObject,
	foundFields: IDataObject = {},
): IDataObject[] {
	const documents = answer as IDataObject[];
	const byId = new Map(documents.map((found) => [String(found.id).toLowerCase(), found]));
	return (requestedIds as string[]).map((id) => {
		const found = byId.get(id.toLowerCase());
		return found ? { ...found, ...foundFields } : missing(id);
	});
}

/** The IDs of documents, as text or as a list. */
export const documentIds = textField(
	'documentIds',
	'Document IDs',
	'IDs of the documents, separated by commas. An expression may give a list.',
	{ required: true, placeholder: 'e.g. 2f78e81b-096f-42ff-8ac0-8403fd81392d' },
);

export const startProcessing = declare({
	value: 'process',
	name: 'Start Processing',
	action: 'Start processing documents',
	endpoint: 'beyond',
	description: 'Process stored documents, so that assistants find them',
	method: 'POST',
	path: '/knowledges/{knowledgebaseId}/process',
	ids: [knowledgebaseLocator],
	body: {
		fields: [documentIds],
		schema: idList,
		compose: ({ documentIds: ids = '' }) => (typeof ids === 'string' ? splitList(ids) : ids),
		fieldByPath: { '': 'documentIds' },
		split: (ids) => chunk(ids as string[], IDS_TO_START),
	},
	shape: (answer, asked) =>
		itemPerDocument(answer, asked, (id) => ({ id, queued: false }), { queued: true }),
	simplify: ['id', 'name', 'queued', 'status', 'progress', 'processMsg'],
	answer: documentList,
});

export const getStatus = declare({
	value: 'getStatus',
	name: 'Get Processing Status',
	action: 'Get processing status of documents',
	endpoint: 'beyond',
	description: 'Get the processing status of documents',
	method: 'GET',
	path: '/knowledges/{knowledgebaseId}/status?ids={documentIds*}',
	ids: [knowledgebaseLocator, documentIds],
	repeatable: true,
	shape: (answer, asked) => {
		const ids = splitList((asked as { documentIds: string }).documentIds);
		return itemPerDocument(answer, ids, (id) => ({ id, status: 'unknown' }));
	},
	answer: documentList,
});
