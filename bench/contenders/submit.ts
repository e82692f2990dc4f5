import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { byId } from '../../test/engine/support/locators';
import { createEngine } from '../support/engine';
import type { Load, Ready, Task } from './contender';
import { byName } from './mapping';

/** Document: Submit, as built, in n8n's engine: columns are mapped by name; one item comes out for each document. */
export async function submit({ target, batchSize, concurrency }: Task) {
	const parameters: INodeParameters = {
		resource: 'document',
		operation: 'submit',
		source: 'fields',
		knowledgebaseId: byId(target.knowledgebaseId),
		documentFields: await byName(),
		options: { afterStoring: 'nothing', batchSize, concurrency },
	};
	const engine = await createEngine('xpertAi', target.credential);
	return ({ documents }: Load): Ready => {
		const items = documents.map((json) => ({ json: json as IDataObject }));
		return async () => {
			const output = await engine.run(parameters, items);
			return output.filter(({ json }) => json.outcome === 'stored').length;
		};
	};
}
