import type {
	ICredentialDataDecryptedObject,
	IExecuteFunctions,
	ILoadOptionsFunctions,
	IPollFunctions,
} from 'n8n-workflow';

import { CREDENTIAL_NAME } from './api';

/** The n8n context that a request is sent from: an execution, a list in the editor, or a poll of the trigger. */
export type RequestContext = IExecuteFunctions | ILoadOptionsFunctions | IPollFunctions;

/** The fields of a credential. If n8n could not read the credential, the only field is `refusal`, with the reason. */
export type ReadCredential = ICredentialDataDecryptedObject;

/**
 * Reads the credential of the node. Fields of a credential may be expressions, which n8n resolves. Does not throw: if
 * n8n cannot read the credential, the result holds the reason as `refusal`.
 *
 * @param itemIndex the item for which expressions are resolved; undefined for lists in the editor and for polls, which
 * have no items
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

/** Where requests are sent to, or the reason (`refusal`) why no request may be sent. */
export type RequestTarget = { root: string; allowedDomains?: string } | { refusal: string };

/**
 * Matches the part of a copied header that precedes the token: `Bearer`, with or without `Authorization:`. The
 * credential's `authenticate` also uses this pattern, because `authenticate` can hold only expressions and cannot call
 * `tokenOf`.
 */
export const BEFORE_TOKEN = /^(?:Authorization:\s*)?Bearer\s+/i;

/** The token as requests send it: trimmed, and without the parts of a copied header. */
export const tokenOf = ({ accessToken }: ReadCredential) =>
	String(accessToken ?? '')
		.trim()
		.replace(BEFORE_TOKEN, '');

/**
 * Returns the target of a credential, or the reason why nothing may be sent: n8n could not read the credential, its
 * Base URL or token is not valid, or its allowed domains exclude the host of the Base URL.
 */
export function readRequestTarget(credential: ReadCredential): RequestTarget {
	if (typeof credential.refusal === 'string') return { refusal: credential.refusal };
	const { baseUrl, allowInsecureHttp } = credential;
	const service = serviceRoot(String(baseUrl ?? ''), allowInsecureHttp === true);
	if ('refusal' in service) return service;
	const token = tokenOf(credential);
	if (!/^[\x21-\x7e]+$/.test(token)) return { refusal: REFUSALS.noToken };
	// n8n adds these two fields to every credential that authenticates requests. The node reads the fields directly,
	// because n8n's own functions for them have other parameters in current versions of n8n and are missing in older
	// versions. The mode "None" only keeps other nodes from using the credential, so it does not restrict this node.
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
 * Whether the list allows the host of an address. An entry such as `*.example.com` allows all hosts below
 * `example.com`; any other entry allows only the same host. Versions of n8n that enforce the list themselves use this
 * rule too.
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
 * Matches a Base URL. Group 1 is scheme, host and port; group 2 is the path before an optional `/api` or `/api/ai`. A
 * query or fragment is ignored. The pattern rejects what programs parse in different ways: blanks anywhere, backslashes
 * and dot segments before the query, and encoded characters or user names in the host. It limits the length to keep
 * matching fast. The credential's test also uses this pattern, because the test can hold only expressions.
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
 * Returns the root address of the server for a Base URL. Removes a slash, `/api` or `/api/ai` at the end of the Base
 * URL, because requests add `/api/ai` (contract, `{base_url}/api/ai`), and removes a query or fragment. Keeps any other
 * path, for servers behind a proxy.
 *
 * @param baseUrl as the user entered it
 * @param allowInsecureHttp the switch of the credential; if false, only https and loopback hosts are allowed
 * @returns the root without a slash at the end, or the reason why the Base URL is rejected
 */
export function serviceRoot(baseUrl: string, allowInsecureHttp: boolean): RequestTarget {
	const text = baseUrl.trim();
	const [, start = '', path = ''] = BASE_URL.exec(text) ?? [];
	// Parsed with the slash that follows the root in requests. Without this slash, the URL parser would ignore a NUL at
	// the end, although requests would contain the NUL.
	const url = readUrl(`${start}${path}/`);
	if (!url) return { refusal: REFUSALS.noAddress };
	if (!allowInsecureHttp && !SECURE_START.test(text)) return { refusal: REFUSALS.insecure };
	return { root: url.origin + url.pathname.replace(/\/$/, '') };
}

/**
 * Parses an address. Does not use `URL.canParse`: in Node.js 20, it rejects `https://münchen.example` after some
 * thousand calls.
 *
 * @returns `undefined` if the text is not a valid address
 */
export function readUrl(text: string): URL | undefined {
	try {
		return new URL(text);
	} catch {
		return undefined;
	}
}
