import { chunk, isEmpty, keyBy } from 'lodash';
import type { IDataObject } from 'n8n-workflow';

import { idListSchema } from '../../execution/fieldSchemas';
import { splitList, textField } from '../../execution/fieldBuilders';
import { declare } from '../../execution/operation';
import { IDS_PER_START } from '../../ingest/processing';
import { documentListSchema } from '../../ingest/documentList';
import { PROCESS_PATH, STATUS_PATH } from '../../transport/knowledgebaseRoutes';

import { knowledgebaseLocator } from '../../pickers/locators';

/**
 * Makes one output item for each ID, in the order of `ids`. Servers answer in any order, and leave out missing
 * documents.
 *
 * @param list a list of documents that `documentListSchema` has accepted
 * @param missing fields to output for documents that are not in the answer
 * @param found fields to add to documents in the answer
 */
function itemPerDocument(list: unknown, ids: string[], missing: IDataObject, found?: IDataObject) {
	const documents = keyBy(list as IDataObject[], ({ id }) => String(id).toLowerCase());
	return ids.map((id): IDataObject => {
		const document = documents[id.toLowerCase()];
		return document ? { ...document, ...found } : { id, ...missing };
	});
}

/** Returns a hint if all answers are empty, e.g. because the knowledgebase is another one; otherwise undefined. */
const noneOnServerHint = (answers: unknown[]) =>
	answers.length > 0 && answers.every(isEmpty) ? NONE_ON_SERVER_HINT : undefined;

const NONE_ON_SERVER_HINT =
	'The server has none of these documents: check "Knowledgebase" and the IDs.';

export const documentIdsField = textField(
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
	route: `POST ${PROCESS_PATH}`,
	idFields: [knowledgebaseLocator],
	body: {
		fields: [documentIdsField],
		schema: idListSchema,
		compose: ({ documentIds: ids = '' }) => (typeof ids === 'string' ? splitList(ids) : ids),
		fieldByPath: { '': 'documentIds' },
		split: (ids) => chunk(ids as string[], IDS_PER_START),
	},
	toOutput: (answer, asked) =>
		itemPerDocument(answer, asked as string[], { queued: false }, { queued: true }),
	simplify: ['id', 'name', 'queued', 'status', 'progress', 'processMsg'],
	answerSchema: documentListSchema(),
	answersHint: (answers) => noneOnServerHint(answers) && NONE_QUEUED_HINT,
});

/** Servers answer only with what they queued now. */
const NONE_QUEUED_HINT =
	'The server queued none of these documents: they are being processed already, or it does not have them. Get Processing Status tells which.';

export const getStatus = declare({
	value: 'getStatus',
	name: 'Get Processing Status',
	action: 'Get processing status of documents',
	endpoint: 'beyond',
	description: 'Get the processing status of documents',
	route: `GET ${STATUS_PATH}`,
	idFields: [knowledgebaseLocator, documentIdsField],
	toOutput: (answer, asked) => {
		const ids = splitList((asked as { documentIds: string }).documentIds);
		return itemPerDocument(answer, ids, { status: 'unknown' });
	},
	answerSchema: documentListSchema(),
	answersHint: noneOnServerHint,
});
