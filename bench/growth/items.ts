import { byId } from '../../test/engine/support/locators';
import { byName } from '../contenders/mapping';
import { makeDocuments } from '../support/documents';
import { createEngine } from '../support/engine';
import type { Target } from '../support/server';
import type { Growing } from './growing';

const DOCUMENT_BYTES = 512;

/** Items of Document: Submit in n8n's engine. */
export async function items({ credential, knowledgebaseId }: Target): Promise<Growing> {
	const engine = await createEngine('xpertAi', credential);
	const parameters = {
		resource: 'document',
		operation: 'submit',
		source: 'fields',
		knowledgebaseId: byId(knowledgebaseId),
		documentFields: await byName(),
		options: { afterStoring: 'nothing' },
	};
	return (size) => {
		const given = makeDocuments(size, DOCUMENT_BYTES).map((json) => ({ json }));
		return async () => {
			const output = await engine.run(parameters, given);
			const stored = output.filter(({ json }) => json.outcome === 'stored');
			if (stored.length !== size) throw new Error(`Of ${size} items, ${stored.length} are stored`);
			// What is sent is counted by the server.
			return { requests: 0, bytes: 0 };
		};
	};
}
