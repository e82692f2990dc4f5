import fc from 'fast-check';

import { multipartBody } from '../../../../nodes/XpertAi/transport/multipart';
import { sendOnce } from '../../support/sender';
import { EMPTY_WORDS } from '../../support/thrown';

describe('what is handed to n8n', () => {
	it('is one request with the credential and without the token, which n8n adds, and all that keeps it at home', async () => {
		const { sent } = await sendOnce({});
		expect(sent).toEqual([
			{
				credentialName: 'xpertAiApi',
				options: {
					method: 'POST',
					url: 'https://api.example.com/api/ai/assistants/count',
					headers: { Accept: 'application/json', 'Content-Type': 'application/json' },
					body: Buffer.from('{}'),
					encoding: 'text',
					timeout: 5000,
					returnFullResponse: true,
					ignoreHttpStatusErrors: true,
					disableFollowRedirect: true,
					sendCredentialsOnCrossOriginRedirect: false,
					allowedDomains: undefined,
				},
			},
		]);
	});

	it('has no body and no content type without a body', async () => {
		const { sent } = await sendOnce({ request: { method: 'GET', body: undefined } });
		expect(sent[0]?.options.body).toBeUndefined();
		expect(sent[0]?.options.headers).toEqual({ Accept: 'application/json' });
	});

	it('leaves the content type of a form to the form, which knows its boundary', async () => {
		const open = async function* () {};
		const file = { name: 'a', mimeType: 'text/plain', content: { size: 0, open } };
		const form = multipartBody(file, {});
		const { sent } = await sendOnce({ request: { body: form } });
		expect(sent[0]?.options.body).toBe(form);
		expect(sent[0]?.options.headers).toEqual({ Accept: 'application/json' });
	});

	it('passes JSON text on byte by byte', async () => {
		const body = '{"a": 1e2, "ü": "\\u0000", "big": 12345678901234567890}';
		const { sent } = await sendOnce({ request: { body } });
		expect(String(sent[0]?.options.body)).toBe(body);
	});

	it('carries the allowed domains of the credential', async () => {
		const allowedDomains = '  example.com, api.example.com ';
		const credential = { allowedHttpRequestDomains: 'domains', allowedDomains };
		const { sent } = await sendOnce({ credential });
		expect(sent[0]?.options.allowedDomains).toBe('example.com, api.example.com');
	});

	it('may go over http where the switch allows it', async () => {
		const credential = { baseUrl: 'http://xpert.internal:3000', allowInsecureHttp: true };
		const { sent } = await sendOnce({ credential });
		expect(sent[0]?.options.url).toBe('http://xpert.internal:3000/api/ai/assistants/count');
	});
});

/** Credentials nothing may be sent with, and what the refusal says. */
const REFUSED: Array<[string, Record<string, unknown>, string]> = [
	['no token', { accessToken: '' }, 'Access Token of the credential is empty'],
	['a token with a line break', { accessToken: 'abc\r\nX-Evil: 1' }, 'a line break'],
	['a token with a blank', { accessToken: 'abc def' }, 'holds a space'],
	['a token in another script', { accessToken: 'ключ' }, 'another character'],
	['no Base URL', { baseUrl: '' }, 'Base URL is empty'],
	['http to another host', { baseUrl: 'http://api.example.com' }, 'Allow Insecure HTTP'],
	[
		'the switch as text',
		{ baseUrl: 'http://api.example.com', allowInsecureHttp: 'false' },
		'Allow Insecure HTTP',
	],
	['a password in the URL', { baseUrl: 'https://a:b@example.com' }, 'user name or password'],
	['allowed domains without a list', { allowedHttpRequestDomains: 'domains' }, 'lists none'],
	[
		'a list without the host',
		{ allowedHttpRequestDomains: 'domains', allowedDomains: 'example.com, *.api.example.com' },
		'do not include the host of its Base URL (https://api.example.com)',
	],
];

describe('a credential that cannot be used', () => {
	it.each(REFUSED)('%s: nothing is sent', async (_, credential, words) => {
		const { outcome, sent } = await sendOnce({ credential });
		expect(sent).toEqual([]);
		expect(outcome).toEqual({
			ok: false,
			failure: {
				kind: 'refused',
				reason: expect.stringContaining(words) as string,
				method: 'POST',
				path: '/api/ai/assistants/count',
			},
		});
		expect(outcome.ok || outcome.failure.reason).not.toMatch(EMPTY_WORDS);
	});

	it('never sends a token that could break out of its header', async () => {
		const token = fc.string({ unit: 'binary', minLength: 1 });
		await fc.assert(
			fc.asyncProperty(token, async (accessToken) => {
				const { sent } = await sendOnce({ credential: { accessToken } });
				// Blanks around it, as pasted, are left out.
				expect(sent).toHaveLength(/^[\x21-\x7e]+$/.test(accessToken.trim()) ? 1 : 0);
			}),
		);
	});
});
