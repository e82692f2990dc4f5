import type {
	IAuthenticate,
	ICredentialTestRequest,
	ICredentialType,
	Icon,
	INodeProperties,
} from 'n8n-workflow';

import { booleanField, textField } from '../nodes/XpertAi/execution/fieldBuilders';
import {
	BASE_URL_PATTERN,
	SECURE_START_PATTERN,
	tokenOf,
} from '../nodes/XpertAi/transport/credential';

/**
 * The expression for the server address in the credential test. An expression cannot call functions of the node, so this
 * one repeats the checks of `rootOrIssue`. An invalid Base URL becomes `data:,`. For a POST to this address, n8n sends
 * nothing and reports status 405. `TEST_MESSAGE_BY_STATUS` has a message for this status.
 */
const TEST_BASE_URL_EXPRESSION = `={{ ((text, allowInsecureHttp) => {
	const [, start, path] = ${BASE_URL_PATTERN}.exec(text) ?? [];
	const isSafe = allowInsecureHttp || ${SECURE_START_PATTERN}.test(text);
	return start && isSafe ? start + path : 'data:,';
})(String($credentials.baseUrl ?? '').trim(), $credentials.allowInsecureHttp === true) }}`;

/** The messages of the credential test, by HTTP status. */
const TEST_MESSAGE_BY_STATUS = {
	401: 'The server did not accept the access token: make one under Settings → API Keys of the server',
	403: 'The access token is valid but may not use this server',
	404: 'There is no Xpert AI server at this Base URL: enter only the host, such as https://api.example.com',
	405: 'The Base URL must start with https://, or with http:// on this machine, and lead to an Xpert AI server. For http:// to another host, switch on Allow Insecure HTTP.',
};

/** The credential for an Xpert AI server: its Base URL and an access token. */
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
			hint: 'If the test says ENOTFOUND: no such host. ECONNREFUSED: nothing listens there. EPROTO: it speaks http',
		}),
		textField(
			'accessToken',
			'Access Token',
			'API key of the server. A key made for a workspace or an assistant can also run its threads.',
			{
				typeOptions: { password: true },
				required: true,
				hint: 'Made on the server under Settings → API Keys',
			},
		),
		booleanField(
			'allowInsecureHttp',
			'Allow Insecure HTTP',
			'Whether to send the token over plain http:// to hosts other than this machine. Anyone on the way can read it.',
		),
	];

	// A function is faster than an expression, which n8n would evaluate for each request.
	authenticate = (async (credentials, request) => {
		const headers = { ...request.headers, Authorization: `Bearer ${tokenOf(credentials)}` };
		return { ...request, headers };
	}) satisfies IAuthenticate;

	/**
	 * The test counts assistants, because this request needs a valid token and changes nothing. If no server answers,
	 * n8n shows only an error code. The hint of "Base URL" explains these codes. An Xpert AI server answers with a number.
	 * A text or an object is the answer of another server, so two rules check the type of the answer.
	 */
	test: ICredentialTestRequest = {
		request: {
			method: 'POST',
			baseURL: TEST_BASE_URL_EXPRESSION,
			url: '/api/ai/assistants/count',
			headers: { 'Content-Type': 'application/json' },
			body: '{}',
			disableFollowRedirect: true,
		},
		rules: [
			...Object.entries(TEST_MESSAGE_BY_STATUS).map(([status, message]) => ({
				type: 'responseCode' as const,
				properties: { value: Number(status), message },
			})),
			...['String', 'Object'].map((value) => ({
				type: 'responseSuccessBody' as const,
				properties: { key: 'constructor.name', value, message: TEST_MESSAGE_BY_STATUS[404] },
			})),
			// The TypeScript type allows only rules of one kind in a list. n8n itself accepts both kinds.
		] as ICredentialTestRequest['rules'],
	};
}
