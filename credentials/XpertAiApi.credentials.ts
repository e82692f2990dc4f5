import type {
	IAuthenticateGeneric,
	ICredentialTestRequest,
	ICredentialType,
	Icon,
	INodeProperties,
} from 'n8n-workflow';

import { booleanField, textField } from '../nodes/XpertAi/execution/fields';
import { BASE_URL, BEFORE_TOKEN, SECURE_START } from '../nodes/XpertAi/transport/credential';

/**
 * Normalizes the Base URL as the node does (`serviceRoot`), by the same two patterns, as a credential test supports
 * only expressions. A URL that the node refuses becomes `data:`: n8n answers a POST to it with 405 without sending it,
 * and the rule for 405 gives the reason.
 */
const TEST_BASE_URL = `={{ ((text, allowInsecureHttp) => {
	const [, start, path] = ${BASE_URL}.exec(text) ?? [];
	const isSafe = allowInsecureHttp || ${SECURE_START}.test(text);
	return start && isSafe ? start + path : 'data:,';
})(String($credentials.baseUrl ?? '').trim(), $credentials.allowInsecureHttp === true) }}`;

/** Normalizes the token as the node does (`tokenOf`), for all requests with this credential. */
const AUTHORIZATION = `=Bearer {{ String($credentials.accessToken ?? '').trim().replace(${BEFORE_TOKEN}, '') }}`;

/** What the test says of the statuses of a refusal. */
const REFUSALS: Array<[number, string]> = [
	[
		401,
		'The server did not accept the access token: make one under Settings → API Keys of the server',
	],
	[403, 'The access token is valid but may not use this server'],
	[
		405,
		'The Base URL must start with https:// and lead to an Xpert AI server: enter only https://host. For http:// to another host, switch on Allow Insecure HTTP.',
	],
	[404, 'There is no Xpert AI server at this Base URL: enter only https://host'],
];

/**
 * Base URL and access token of an Xpert AI server. Every request has the header `Authorization: Bearer <token>`
 * (contract, Authentication).
 */
export class XpertAiApi implements ICredentialType {
	name = 'xpertAiApi';

	displayName = 'Xpert AI API';

	documentationUrl = 'https://github.com/n8n-nodes-xpertai/n8n-nodes-xpertai#credentials';

	icon: Icon = {
		light: 'file:../nodes/XpertAi/xpertAi.svg',
		dark: 'file:../nodes/XpertAi/xpertAi.dark.svg',
	};

	properties: INodeProperties[] = [
		textField('baseUrl', 'Base URL', 'Address of your Xpert AI server, with or without /api', {
			required: true,
			placeholder: 'e.g. https://api.example.com',
			hint: 'No connection? ENOTFOUND: no such host. ECONNREFUSED: nothing listens there. EPROTO: it speaks http',
		}),
		textField(
			'accessToken',
			'Access Token',
			'API key of the server. A key made for a workspace or an assistant can also run its threads.',
			{ typeOptions: { password: true }, required: true },
		),
		booleanField(
			'allowInsecureHttp',
			'Allow Insecure HTTP',
			'Whether to send the token over plain http:// to hosts other than this machine. Anyone on the way can read it.',
		),
	];

	authenticate: IAuthenticateGeneric = {
		type: 'generic',
		properties: { headers: { Authorization: AUTHORIZATION } },
	};

	/**
	 * Counting assistants changes nothing and needs a valid token. Without an answer, n8n shows only the network
	 * error code, which no rule can replace, so the hint of Base URL explains these codes.
	 */
	test: ICredentialTestRequest = {
		request: {
			method: 'POST',
			baseURL: TEST_BASE_URL,
			url: '/api/ai/assistants/count',
			headers: { 'Content-Type': 'application/json' },
			body: '{}',
			disableFollowRedirect: true,
		},
		rules: REFUSALS.map(([value, message]) => ({
			type: 'responseCode',
			properties: { value, message },
		})),
	};
}
