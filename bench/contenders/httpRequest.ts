import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { createEngine } from '../support/engine';
import type { Prepared, Task } from './contender';

/** n8n's HTTP Request with its defaults, in the same engine: one request an item, all at once. */
export async function httpRequest({ target }: Task) {
	const engine = await createEngine('httpRequest', target.credential);
	const parameters: INodeParameters = {
		method: 'POST',
		url: target.url,
		authentication: 'predefinedCredentialType',
		nodeCredentialType: 'xpertAiApi',
		sendBody: true,
		specifyBody: 'json',
		jsonBody: '={{ [$json] }}',
	};
	return (documents: IDataObject[]): Prepared => {
		const items = documents.map((json) => ({ json }));
		return {
			run: async () => {
				const output = await engine.run(parameters, items);
				return output.filter(({ json }) => typeof json.id === 'string').length;
			},
		};
	};
}
