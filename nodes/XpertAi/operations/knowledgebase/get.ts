import get from 'lodash/get';
import pick from 'lodash/pick';
import type { IDataObject } from 'n8n-workflow';

import { recordAbout } from '../../execution/ids';
import { declare } from '../../execution/operation';
import { knowledgebaseLocator } from '../../pickers/locators';
import { KNOWLEDGEBASE_SUMMARY } from './fields';

/** Servers have no route to read a knowledgebase; an empty update returns all of it (`knowledge`, recorded). */
export const getKnowledgebase = declare({
	value: 'get',
	name: 'Get',
	action: 'Get knowledgebase',
	endpoint: 'E2',
	description: 'Get its status, embedding model and metadata schema, which moves Updated At',
	method: 'PUT',
	path: '/knowledges/{knowledgebaseId}',
	ids: [knowledgebaseLocator],
	fixedBody: {},
	repeatable: true,
	statusHints: {
		403: "A workspace's key may not read what is in a workspace: use the key of a user or an assistant.",
	},
	simplify: knowledgebaseState,
	answer: recordAbout('knowledgebase'),
});

/** Status and embedding model, and the next embedding model while the server rebuilds the index. */
function knowledgebaseState(answer: IDataObject): IDataObject {
	return {
		...pick(answer, [
			...KNOWLEDGEBASE_SUMMARY,
			'status',
			'metadataSchema',
			'embeddingRebuildError',
		]),
		embeddingModel: get(answer, 'copilotModel.model') ?? null,
		nextEmbeddingModel: get(answer, 'pendingCopilotModel.model') ?? null,
	};
}
