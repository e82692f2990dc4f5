import type {
	IAuthenticateGeneric,
	ICredentialTestRequest,
	ICredentialType,
	Icon,
	INodeProperties,
} from 'n8n-workflow';

import { BASE_URL, SAFE_START } from '../nodes/XpertAi/transport/baseUrl';
import { BEFORE_TOKEN } from '../nodes/XpertAi/transport/credential';

/**
 * The Base URL as the node reads it (`serviceRoot`), by the same two patterns, for the credential test,
 * which knows expressions only. What the node would refuse becomes a `data:` URL: the request then stays
 * inside n8n, which answers a POST to it with 405, and the rule for 405 gives the reason.
 */
const TEST_BASE_URL = `={{ ((text, allowInsecureHttp) => {
	const [, start, path] = ${BASE_URL}.exec(text) ?? [];
	const isSafe = allowInsecureHttp || ${SAFE_START}.test(text);
	return start && isSafe ? start + path : 'data:,';
})(String($credentials.baseUrl ?? '').trim(), $credentials.allowInsecureHttp === true) }}`;

/** The token as the node reads it (`tokenOf`), for all that sends with this credential. */
const AUTHORIZATION = `=Bearer {{ String($credentials.accessToken ?? '').trim().replace(${BEFORE_TOKEN}, '') }}`;

/**
 * Base URL and access token of an Xpert AI server. Every request carries
 * `Authorization: Bearer <token>` (contract, Authentication).
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
		{
			displayName: 'Base URL',
			name: 'baseUrl',
			type: 'string',
			default: '',
			required: true,
			placeholder: 'e.g. https://api.example.com',
			description:
				'Address of your Xpert AI server. A trailing slash, /api or /api/ai at its end make no difference. If the test of the credential says EPROTO, the address speaks http, not https; with ECONNREFUSED, nothing accepts connections there; with ENOTFOUND or EAI_AGAIN, its host name is not known; with "Method not allowed", it must start with https://, or Allow Insecure HTTP be switched on.',
		},
		{
			displayName: 'Access Token',
			name: 'accessToken',
			type: 'string',
			typeOptions: { password: true },
			default: '',
			required: true,
			description:
				'API key of the server. A key made for a workspace or an assistant can also run its threads.',
		},
		{
			displayName: 'Allow Insecure HTTP',
			name: 'allowInsecureHttp',
			type: 'boolean',
			default: false,
			description:
				'Whether to send the token over plain http:// to hosts other than this machine. Anyone on the way can read it.',
		},
	];

	authenticate: IAuthenticateGeneric = {
		type: 'generic',
		properties: { headers: { Authorization: AUTHORIZATION } },
	};

	/**
	 * E9 with an empty filter changes nothing and needs a valid token. Where no answer comes n8n shows the
	 * code of the network alone, which no rule can reword, and older versions of n8n heed no rule for a status
	 * that tells of a refusal; the description of Base URL says what their words mean.
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
		rules: [
			{
				type: 'responseCode',
				properties: { value: 401, message: 'The server did not accept the access token' },
			},
			{
				type: 'responseCode',
				properties: {
					value: 403,
					message: 'The access token is valid but may not use this server',
				},
			},
			{
				type: 'responseCode',
				properties: {
					value: 405,
					message:
						'The Base URL must start with https:// and lead to an Xpert AI server. For http:// to another host, switch on Allow Insecure HTTP.',
				},
			},
			{
				type: 'responseCode',
				properties: { value: 404, message: 'There is no Xpert AI server at this Base URL' },
			},
		],
	};
}
