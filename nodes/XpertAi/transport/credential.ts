import type {
	ICredentialDataDecryptedObject,
	IExecuteFunctions,
	ILoadOptionsFunctions,
	IPollFunctions,
} from 'n8n-workflow';

import { CREDENTIAL_NAME } from './api';

/** The n8n context of a request: an execution, a dropdown list in the editor, or a poll of the trigger. */
export type RequestContext = IExecuteFunctions | ILoadOptionsFunctions | IPollFunctions;

/** The fields of a credential, or only `issue` (the reason why n8n cannot read the credential). */
export type CredentialFields = ICredentialDataDecryptedObject;

/**
 * Reads the credential of the node. Returns an `issue` instead of throwing an error.
 *
 * @param itemIndex the index of the input item for the credential's expressions; undefined for dropdown lists and polls
 */
export async function readCredential(
	context: RequestContext,
	itemIndex?: number,
): Promise<CredentialFields> {
	try {
		return await (context as IExecuteFunctions).getCredentials(CREDENTIAL_NAME, itemIndex);
	} catch (caught) {
		const reason = caught instanceof Error ? caught.message : String(caught);
		const isOfItem = itemIndex !== undefined;
		const where = isOfItem ? `for item ${itemIndex}` : 'here, where its expressions have no item';
		return { issue: `The credential could not be read ${where}: ${reason}` };
	}
}

/** The root address of the server, or the reason (`issue`) why the node must not send requests. */
export type RequestTarget = { root: string; allowedDomains?: string } | { issue: string };

/** Matches `Authorization: Bearer` or `Bearer` before a token that a user copied from a header. */
const BEARER_PREFIX_PATTERN = /^(?:Authorization:\s*)?Bearer\s+/i;

/** Returns the token without surrounding blanks and without a copied `Bearer` prefix. */
export const tokenOf = ({ accessToken }: CredentialFields) =>
	String(accessToken ?? '')
		.trim()
		.replace(BEARER_PREFIX_PATTERN, '');

/** Checks a credential. Returns the server address, or the reason (`issue`) to send no request. */
export function readRequestTarget(credential: CredentialFields): RequestTarget {
	if (typeof credential.issue === 'string') return { issue: credential.issue };
	const { baseUrl, allowInsecureHttp } = credential;
	const service = rootOrIssue(String(baseUrl ?? ''), allowInsecureHttp === true);
	if ('issue' in service) return service;
	const token = tokenOf(credential);
	if (token === '') return { issue: ISSUES.noToken };
	if (/[^\x21-\x7e]/.test(token)) return { issue: ISSUES.badToken };
	// n8n adds the field "Allowed HTTP Request Domains" to each credential.
	// The node checks these domains itself, because n8n's check differs between versions.
	// The node ignores the choice "None", because it is only for n8n's own request nodes, such as "HTTP Request".
	const { allowedHttpRequestDomains: mode, allowedDomains: list } = credential;
	const allowedDomains = mode === 'domains' ? String(list ?? '').trim() : undefined;
	if (allowedDomains === '') return { issue: ISSUES.noDomains };
	const { root } = service;
	if (allowedDomains === undefined || isAllowedHost(root, allowedDomains))
		return { root, allowedDomains };
	const { origin } = new URL(root);
	return {
		issue: `The allowed domains of the credential do not include the host of its Base URL (${origin})`,
	};
}

/**
 * Whether the host of the address is an allowed domain. `*.example.com` allows the subdomains of `example.com`, not
 * `example.com` itself.
 */
function isAllowedHost(address: string, allowedDomains: string): boolean {
	const host = normalizeHost(new URL(address).hostname);
	const domains = allowedDomains.split(',').map(normalizeHost);
	return domains.some((domain) =>
		domain.startsWith('*.') ? host.endsWith(domain.slice(1)) : host === domain,
	);
}

const normalizeHost = (host: string) => host.trim().toLowerCase().replace(/\.$/, '');

/**
 * Matches a Base URL. Group 1 is the scheme, host and port. Group 2 is the path without a final `/api` or `/api/ai`.
 * Ignores a query or fragment.
 * Rejects backslashes, dot segments and user names before the query, because URL parsers disagree about them.
 * The length limit keeps matching fast. The expressions of `XpertAiApi.credentials.ts` also contain this pattern.
 */
export const BASE_URL_PATTERN =
	/^(?=.{1,2000}$)(https?:\/\/(?:[^\s/\\?#@:%[\]]+|\[[0-9a-f:.]+\])(?::\d*)?)((?:\/(?!(?:\.|%2e){1,2}(?:[/?#]|$))[^\s/\\?#]*)*?)\/*(?:\/api(?:\/ai)?\/*)?(?:[?#]\S*)?$/i;

/**
 * Matches the start of a secure Base URL: https with any host, or http with a loopback host. The expressions of
 * `XpertAiApi.credentials.ts` also contain this pattern.
 */
export const SECURE_START_PATTERN =
	/^(?:https:\/\/|http:\/\/(?:(?:[\w-]+\.)*localhost|127(?:\.\d+){1,3}|\[[0:]*1\])(?:[:/?#]|$))/i;

const ISSUES = {
	empty: 'The Base URL is empty. Enter the address of the server, e.g. https://api.example.com',
	userName: 'The Base URL must not hold a user name or password. Enter the token in Access Token',
	noAddress:
		'The Base URL is not a web address: it must start with https://, e.g. https://api.example.com',
	insecure:
		'The Base URL starts with http://, which would send the access token unencrypted. Use https://, or switch on Allow Insecure HTTP',
	noToken: 'The Access Token of the credential is empty',
	badToken:
		'The Access Token of the credential holds a space, a line break or another character that no token has',
	noDomains: 'The credential is restricted to allowed domains, but lists none',
};

/**
 * Returns the root address of the server. Removes a final `/api` or `/api/ai` from the Base URL, because requests add
 * the API path. Keeps any other path, for servers behind a proxy.
 *
 * @param baseUrl the Base URL as the user entered it
 * @param allowInsecureHttp if false, http is allowed only for loopback hosts
 * @returns the root address without a final slash, or the reason why the Base URL is rejected
 */
export function rootOrIssue(baseUrl: string, allowInsecureHttp: boolean): RequestTarget {
	const text = baseUrl.trim();
	const [, start = '', path = ''] = BASE_URL_PATTERN.exec(text) ?? [];
	// The slash prevents the URL parser from dropping control characters at the end of the Base URL.
	const url = parseUrl(`${start}${path}/`);
	if (text === '') return { issue: ISSUES.empty };
	if (/^https?:\/\/[^/\\?#]*@/i.test(text)) return { issue: ISSUES.userName };
	if (!url) return { issue: ISSUES.noAddress };
	if (!allowInsecureHttp && !SECURE_START_PATTERN.test(text)) return { issue: ISSUES.insecure };
	return { root: url.origin + url.pathname.replace(/\/$/, '') };
}

/**
 * Parses a URL. Do not use `URL.canParse`: in Node.js 20, it rejects some valid URLs after thousands of calls.
 *
 * @returns `undefined` if the text is not a valid URL
 */
export function parseUrl(text: string): URL | undefined {
	try {
		return new URL(text);
	} catch {
		return undefined;
	}
}
