import pick from 'lodash/pick';
import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod';

import { answerAbout } from '../../execution/ids';
import { declare } from '../../execution/operation';
import { knowledgebaseLocator } from '../../pickers/locators';
import { KNOWLEDGEBASE_SUMMARY } from './fields';

/** Servers have no route to read a knowledgebase; an empty update returns all of it (`knowledge`, recorded). */
export const getKnowledgebase = declare({
	value: 'get',
	name: 'Get',
	action: 'Get knowledgebase',
	description: 'Get its status, embedding model and metadata schema, which moves Updated At',
	endpoint: 'E2',
	method: 'PUT',
	path: '/knowledges/{knowledgebaseId}',
	ids: { knowledgebaseId: knowledgebaseLocator },
	fixedBody: {},
	repeatable: true,
	statusHints: {
		403: "The token is valid but may not do this. A workspace's key may not read what is in a workspace: use the key of a user or an assistant.",
	},
	simplify: knowledgebaseState,
	checkAnswer: answerAbout('knowledgebase'),
});

const embeddingModel = z.object({ model: z.string() });

/** Status and embedding model, and the next embedding model while the server rebuilds the index. */
function knowledgebaseState({
	copilotModel,
	pendingCopilotModel,
	...rest
}: IDataObject): IDataObject {
	const nameOf = (model: unknown) => embeddingModel.safeParse(model).data?.model ?? null;
	return {
		...pick(rest, [...KNOWLEDGEBASE_SUMMARY, 'status', 'metadataSchema', 'embeddingRebuildError']),
		embeddingModel: nameOf(copilotModel),
		nextEmbeddingModel: nameOf(pendingCopilotModel),
	};
}
