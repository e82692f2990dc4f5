import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { getDocumentFields } from '../../nodes/XpertAi/pickers/documentFields';
import { byId } from '../../test/engine/support/locators';
import { createEngine } from '../support/engine';
import type { Prepared, Task } from './contender';

/** Document: Submit, as built, in n8n's engine; columns are mapped to the document's fields by name. */
export async function submit({ target, batchSize, concurrency }: Task) {
	const engine = await createEngine('xpertAi', target.credential);
	const { fields } = await getDocumentFields();
	const parameters: INodeParameters = {
		resource: 'document',
		operation: 'submit',
		knowledgebaseId: byId(target.knowledgebaseId),
		// As the editor saves it: with the list of all fields.
		documentFields: {
			mappingMode: 'autoMapInputData',
			value: null,
			schema: fields as unknown as INodeParameters[],
		},
		options: { batchSize, concurrency },
	};
	return (documents: IDataObject[]): Prepared => {
		const items = documents.map((json) => ({ json }));
		return {
			run: async () => {
				const output = await engine.run(parameters, items);
				return output.filter(({ json }) => json.outcome === 'stored').length;
			},
		};
	};
}
