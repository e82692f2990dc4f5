import type { INodeParameters } from 'n8n-workflow';

import { getDocumentFields } from '../../nodes/XpertAi/pickers/documentFields';
import { byId } from '../../test/engine/support/locators';
import type { Task } from './contender';
import { inEngine } from './inEngine';

/** Document: Submit, as built, in n8n's engine; columns are mapped to the document's fields by name. */
export async function submit({ target, batchSize, concurrency }: Task) {
	const { fields } = await getDocumentFields();
	const parameters: INodeParameters = {
		resource: 'document',
		operation: 'submit',
		source: 'fields',
		afterStoring: 'nothing',
		knowledgebaseId: byId(target.knowledgebaseId),
		// As the editor saves it: with the list of all fields.
		documentFields: {
			mappingMode: 'autoMapInputData',
			value: null,
			schema: fields as unknown as INodeParameters[],
		},
		options: { batchSize, concurrency },
	};
	return await inEngine('xpertAi', target, parameters, ({ outcome }) => outcome === 'stored');
}
