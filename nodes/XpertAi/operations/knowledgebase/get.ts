import { get, pick } from 'lodash';
import type { IDataObject } from 'n8n-workflow';

import { schemaOfAskedRecord } from '../../transport/answerSchemas';
import { declare } from '../../execution/operation';
import { knowledgebaseLocator } from '../../pickers/locators';
import { KNOWLEDGEBASE_SUMMARY_FIELDS } from './fields';

/** Sends an empty update and returns its answer, because servers have no route for reading a knowledgebase. */
export const getKnowledgebase = declare({
	value: 'get',
	name: 'Get',
	endpoint: 'E2',
	description: 'Get its status, embedding model and metadata schema, which moves Updated At',
	route: 'PUT /knowledges/{knowledgebaseId}',
	idFields: [knowledgebaseLocator],
	fixedBody: {},
	repeatable: true,
	statusAdvice: {
		403: "A workspace's key may not read what is in a workspace: use the key of a user or an assistant. Or the knowledgebase belongs to another workspace.",
	},
	simplify: knowledgebaseSummary,
	answerSchema: schemaOfAskedRecord('knowledgebase'),
});

/** Returns the simplified output. `nextEmbeddingModel` is null, except while the server rebuilds the index. */
function knowledgebaseSummary(answer: IDataObject): IDataObject {
	return {
		...pick(
			answer,
			KNOWLEDGEBASE_SUMMARY_FIELDS,
			'status',
			'metadataSchema',
			'embeddingRebuildError',
		),
		embeddingModel: get(answer, 'copilotModel.model') ?? null,
		nextEmbeddingModel: get(answer, 'pendingCopilotModel.model') ?? null,
	};
}
