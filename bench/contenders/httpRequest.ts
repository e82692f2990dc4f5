import type { INodeParameters } from 'n8n-workflow';

import type { Task } from './contender';
import { inEngine } from './inEngine';

/** n8n's HTTP Request with its defaults, in the same engine: one request an item, all at once. */
export async function httpRequest({ target }: Task) {
	const parameters: INodeParameters = {
		method: 'POST',
		url: target.url,
		authentication: 'predefinedCredentialType',
		nodeCredentialType: 'xpertAiApi',
		sendBody: true,
		specifyBody: 'json',
		jsonBody: '={{ [$json] }}',
	};
	const isStored = ({ id }: { id?: unknown }) => typeof id === 'string';
	return await inEngine(
		'httpRequest',
		target,
		parameters,
		(output) => output.filter(isStored).length,
	);
}
