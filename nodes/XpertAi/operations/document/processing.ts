import chunk from 'lodash/chunk';
import type { IDataObject, INodeProperties } from 'n8n-workflow';

import { splitIds } from '../../execution/ids';
import { declare } from '../../execution/operation';
import { answerItems } from '../../execution/outputs';
import { mustListDocuments } from '../../ingest/answeredRecords';
import { IDS_TO_START } from '../../ingest/processingStatus';
import { idList } from '../../payloads/common';
import { knowledgebaseLocator } from '../../pickers/locators';
import { isJsonObject } from '../../transport/answer';
import { PROCESS_PATH, STATUS_PATH } from './paths';

/**
 * One item for each requested document, in the order requested: servers answer in any order, and leave out documents
 * they do not know. Other documents in the answer come last.
 *
 * @param missing makes the item of a document that the answer leaves out
 * @param foundFields what is added to the others
 */
export function itemPerDocument(
	answer: unknown,
	requestedIds: unknown,
	missing: (id: string) => IDataObject,
	foundFields: IDataObject = {},
): IDataObject[] {
	if (!Array.isArray(answer) || !Array.isArray(requestedIds)) return answerItems(answer);
	const entries = answer.filter(isJsonObject);
	const byId = new Map(entries.map((entry) => [lowerId(entry.id), entry]));
	const items = requestedIds.map((id: unknown) => {
		const entry = byId.get(lowerId(id));
		return entry ? { ...entry, ...foundFields } : missing(String(id));
	});
	const requested = new Set(requestedIds.map(lowerId));
	return [...items, ...entries.filter(({ id }) => !requested.has(lowerId(id)))];
}

/** Servers return IDs in lower case, whatever was sent. */
const lowerId = (id: unknown) => String(id).toLowerCase();

/** The IDs of documents, as text or as a list. */
export const documentIds: INodeProperties = {
	displayName: 'Document IDs',
	name: 'documentIds',
	type: 'string',
	default: '',
	required: true,
	placeholder: 'e.g. 2f78e81b-096f-42ff-8ac0-8403fd81392d',
	description: 'IDs of the documents, separated by commas. An expression may give a list.',
};

export const startProcessing = declare({
	value: 'process',
	name: 'Start Processing',
	action: 'Start processing documents',
	description: 'Process stored documents, so that assistants find them',
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

export const getStatus = declare({
	value: 'getStatus',
	name: 'Get Processing Status',
	action: 'Get processing status of documents',
	description: 'Get the processing status of documents',
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
