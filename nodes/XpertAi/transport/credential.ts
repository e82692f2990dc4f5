import type {
	ICredentialDataDecryptedObject,
	IExecuteFunctions,
	ILoadOptionsFunctions,
	IPollFunctions,
} from 'n8n-workflow';

import { CREDENTIAL_NAME } from './api';

/** The n8n context of a request: an execution, a dropdown list in the editor, or a poll of the trigger. */
export type RequestContext = IExecuteFunctions | ILoadOptionsFunctions | IPollFunctions;

/** The fields of a credential. If n8n cannot read the credential, the only field is `refusal`, with the reason. */
export type ReadCredential = ICredentialDataDecryptedObject;

/**
 * Reads the credential of the node. n8n resolves the expressions in its fields. Never throws: if n8n cannot read the
 * credential, the result has the reason as `refusal`.
 *
 * @param itemIndex the item for which n8n resolves expressions; undefined for dropdown lists and polls
 */
export async function readCredential(
	context: RequestContext,
	itemIndex?: number,
): Promise<ReadCredential> {
	try {
		return await (context as IExecuteFunctions).getCredentials(CREDENTIAL_NAME, itemIndex);
	} catch (caught) {
		const reason = caught instanceof Error ? caught.message : String(caught);
		const isOfItem = itemIndex !== undefined;
		const where = isOfItem ? `for item ${itemIndex}` : 'here, where its expressions have no item';
		return { refusal: `The credential could not be read ${where}: ${reason}` };
	}
}

/** The root address of the server, or the reason (`refusal`) why the node must not send requests. */
export type RequestTarget = { root: string; allowedDomains?: string } | { refusal: string };

/**
 * Matches the start of a copied header, before the token: `Authorization: Bearer` or `Bearer`. Exported for the
 * credential type, whose expressions cannot call `tokenOf`.
 */
export const BEFORE_TOKEN = /^(?:Authorization:\s*)?Bearer\s+/i;

/** Returns the token without surrounding blanks and without a copied `Bearer` prefix. */
export const tokenOf = ({ accessToken }: ReadCredential) =>
	String(accessToken ?? '')
		.trim()
		.replace(BEFORE_TOKEN, '');

/**
 * Returns the server address of a credential. Returns a refusal for an unreadable credential, an invalid Base URL or
 * token, or a host that is not an allowed domain.
 */
export function readRequestTarget(credential: ReadCredential): RequestTarget {
	if (typeof credential.refusal === 'string') return { refusal: credential.refusal };
	const { baseUrl, allowInsecureHttp } = credential;
	const service = serviceRoot(String(baseUrl ?? ''), allowInsecureHttp === true);
	if ('refusal' in service) return service;
	const token = tokenOf(credential);
	if (!/^[\x21-\x7e]+$/.test(token)) return { refusal: REFUSALS.noToken };
	// n8n adds these two fields to the credential. The node reads the fields itself, because n8n's own functions for
	// these fields differ between versions. The mode "None" blocks only other nodes, so this node ignores that mode.
	const { allowedHttpRequestDomains: mode, allowedDomains: list } = credential;
	const allowedDomains = mode === 'domains' ? String(list ?? '').trim() : undefined;
	const { root } = service;
	if (allowedDomains === undefined || isAllowedHost(root, allowedDomains))
		return { root, allowedDomains };
	const { origin } = new URL(root);
	return {
		refusal: `The allowed domains of the credential do not include the host of its Base URL (${origin})`,
	};
}

/**
 * Whether the allowed domains include the host of the address. `*.example.com` includes all subdomains of
 * `example.com`, but not `example.com` itself. n8n versions that check the domains use the same rule.
 */
function isAllowedHost(address: string, allowedDomains: string): boolean {
	const host = plainHost(new URL(address).hostname);
	const domains = allowedDomains.split(',').map(plainHost);
	return domains.some((domain) =>
		domain.startsWith('*.') ? host.endsWith(domain.slice(1)) : host === domain,
	);
}

const plainHost = (host: string) => host.trim().toLowerCase().replace(/\.$/, '');

/**
 * Matches a Base URL. Group 1 is the scheme, host and port. Group 2 is the path without a final `/api` or `/api/ai`.
 * The pattern rejects blanks, backslashes, dot segments and user names, because URL parsers treat these differently.
 * The length limit keeps matching fast. The credential test also uses this pattern.
 */
export const BASE_URL =
	/^(?=.{1,2000}$)(https?:\/\/(?:[^\s/\\?#@:%[\]]+|\[[0-9a-f:.]+\])(?::\d*)?)((?:\/(?!(?:\.|%2e){1,2}(?:[/?#]|$))[^\s/\\?#]*)*?)\/*(?:\/api(?:\/ai)?\/*)?(?:[?#]\S*)?$/i;

/** Matches the start of a secure Base URL: https with any host, or http with a loopback host. */
export const SECURE_START =
	/^(?:https:\/\/|http:\/\/(?:(?:[\w-]+\.)*localhost|127(?:\.\d+){1,3}|\[[0:]*1\])(?:[:/?#]|$))/i;

const REFUSALS = {
	noAddress:
		'The Base URL is not a plain web address such as https://api.example.com, without user name or password',
	insecure:
		'The Base URL starts with http://, which would send the access token unencrypted. Use https://, or switch on Allow Insecure HTTP',
	noToken:
		'The Access Token of the credential is empty, or holds a space, a line break or another character that no token has',
};

/**
 * Returns the root address of the server. Removes a final `/api` or `/api/ai` from the Base URL, because requests add
 * `/api/ai` (contract, `{base_url}/api/ai`). Keeps any other path, for servers behind a proxy.
 *
 * @param baseUrl the Base URL as the user entered it
 * @param allowInsecureHttp if false, only https addresses and loopback hosts are allowed
 * @returns the root address without a final slash, or the reason why the Base URL is rejected
 */
export function serviceRoot(baseUrl: string, allowInsecureHttp: boolean): RequestTarget {
	const text = baseUrl.trim();
	const [, start = '', path = ''] = BASE_URL.exec(text) ?? [];
	// The added slash prevents the URL parser from silently removing a NUL character at the end.
	const url = readUrl(`${start}${path}/`);
	if (!url) return { refusal: REFUSALS.noAddress };
	if (!allowInsecureHttp && !SECURE_START.test(text)) return { refusal: REFUSALS.insecure };
	return { root: url.origin + url.pathname.replace(/\/$/, '') };
}

/**
 * Parses a URL. Avoids `URL.canParse`, which in Node.js 20 rejects `https://münchen.example` after some thousand calls.
 *
 * @returns `undefined` if the text is not a valid URL
 */
export function readUrl(text: string): URL | undefined {
	try {
		return new URL(text);
	} catch {
		return undefined;
	}
}
