import type {
	ICredentialDataDecryptedObject,
	IExecuteFunctions,
	ILoadOptionsFunctions,
	IPollFunctions,
} from 'n8n-workflow';

import { CREDENTIAL_NAME } from './api';

/** Where requests are sent from: an execution, a list in the editor, or a poll of the trigger. */
export type RequestContext = IExecuteFunctions | ILoadOptionsFunctions | IPollFunctions;

/** The fields of a credential, or `refusal`: why it cannot be read, as an expression in a field had no value. */
export type ReadCredential = ICredentialDataDecryptedObject;

/**
 * Reads the credential, whose fields may be expressions.
 *
 * @param itemIndex the item whose expressions are resolved; lists in the editor and triggers have none
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

/** Where requests go, or why none may be sent. */
type RequestTarget = { root: string; allowedDomains?: string } | { refusal: string };

/**
 * The prefix of a token that was copied with its header. `authenticate` also uses it, as it supports expressions
 * only.
 */
export const BEFORE_TOKEN = /^(?:Authorization:\s*)?Bearer\s+/i;

/** The token, as it is sent. */
export const tokenOf = ({ accessToken }: ReadCredential) =>
	String(accessToken ?? '')
		.trim()
		.replace(BEFORE_TOKEN, '');

/** The target of a credential, or why nothing may be sent: the credential forbids it or is not valid. */
export function readRequestTarget(credential: ReadCredential): RequestTarget {
	if (typeof credential.refusal === 'string') return { refusal: credential.refusal };
	const { baseUrl, allowInsecureHttp } = credential;
	const service = serviceRoot(String(baseUrl ?? ''), allowInsecureHttp === true);
	if ('refusal' in service) return service;
	const token = tokenOf(credential);
	if (token === '') return { refusal: REFUSALS.noToken };
	if (/[^\x21-\x7e]/.test(token)) return { refusal: REFUSALS.badToken };
	// n8n adds these fields to every credential that authenticates requests. Its own functions for them have other
	// parameters in current hosts and are missing in older ones. "None" keeps other nodes from using the credential,
	// and does not restrict this one.
	const { allowedHttpRequestDomains: mode, allowedDomains: list } = credential;
	const allowedDomains = mode === 'domains' ? String(list ?? '').trim() : undefined;
	if (allowedDomains === '') return { refusal: REFUSALS.noDomains };
	const { root, origin } = service;
	if (allowedDomains === undefined || isAllowedHost(root, allowedDomains))
		return { root, allowedDomains };
	return {
		refusal: `The allowed domains of the credential do not include the host of its Base URL (${origin})`,
	};
}

/**
 * Whether the host of an address is listed: exactly, or below an entry that starts with `*.`. Hosts that enforce the
 * list themselves use the same rule.
 */
function isAllowedHost(address: string, allowedDomains: string): boolean {
	const host = plainHost(new URL(address).hostname);
	const domains = allowedDomains.split(',').map(plainHost);
	return domains.some((domain) =>
		domain.startsWith('*.') ? host.endsWith(domain.slice(1)) : host === domain,
	);
}

const plainHost = (host: string) => host.trim().toLowerCase().replace(/\.$/, '');

/** The service root, or why the Base URL cannot be used, as a message for the user. */
type ServiceRoot = { root: string; origin: string } | { refusal: string };

/**
 * A Base URL: scheme, host and port, then an optional path before `/api` or `/api/ai`. It rejects whatever programs
 * parse in different ways: backslashes, blanks, encoded characters or user names in the host, dot segments. Its
 * length is limited, so that matching is fast. The credential's test also uses it, as it supports expressions only.
 */
export const BASE_URL =
	/^(?=.{1,2000}$)(https?:\/\/(?:[^\s/\\?#@:%[\]]+|\[[0-9a-f:.]+\])(?::\d*)?)((?:\/(?!(?:\.|%2e){1,2}(?:[/?#]|$))[^\s/\\?#]*)*?)\/*(?:\/api(?:\/ai)?\/*)?(?:[?#]\S*)?$/i;

/** The start of a Base URL that is secure: https, or a loopback host. */
export const SECURE_START =
	/^(?:https:\/\/|http:\/\/(?:(?:[\w-]+\.)*localhost|127(?:\.\d+){1,3}|\[[0:]*1\])(?:[:/?#]|$))/i;

const REFUSALS = {
	empty: 'The Base URL is empty. Enter the address of the server, e.g. https://api.example.com',
	userName: 'The Base URL must not hold a user name or password. Enter the token in Access Token',
	noAddress:
		'The Base URL is not a web address. It starts with https://, e.g. https://api.example.com',
	insecure:
		'The Base URL starts with http://, which would send the access token unencrypted. Use https://, or switch on Allow Insecure HTTP',
	noToken: 'The Access Token of the credential is empty',
	badToken:
		'The Access Token of the credential holds a space, a line break or another character that no token has',
	noDomains: 'The credential is restricted to allowed domains, but lists none',
};

/**
 * Reads the Base URL of the credential. A trailing slash, `/api` and `/api/ai` at its end make no difference
 * (`{base_url}/api/ai`, contract); a path before them is kept, for servers behind a proxy.
 *
 * @param baseUrl as the user entered it
 * @param allowInsecureHttp the credential's switch; without it, only HTTPS and loopback hosts are allowed
 * @returns the root without trailing slash, or the refusal
 */
export function serviceRoot(baseUrl: string, allowInsecureHttp: boolean): ServiceRoot {
	const text = baseUrl.trim();
	const [, start = '', path = ''] = BASE_URL.exec(text) ?? [];
	// Parsed with a slash at the end, as it is sent: the parser ignores characters at the very end, such as NUL.
	const url = readUrl(`${start}${path}/`);
	if (text === '') return { refusal: REFUSALS.empty };
	if (/^https?:\/\/[^/\\?#]*@/i.test(text)) return { refusal: REFUSALS.userName };
	if (!url) return { refusal: REFUSALS.noAddress };
	if (!allowInsecureHttp && !SECURE_START.test(text)) return { refusal: REFUSALS.insecure };
	const { origin, pathname } = url;
	return { root: origin + pathname.replace(/\/$/, ''), origin };
}

/**
 * Parses an address; `undefined` if it is none. `URL.canParse` rejects `https://münchen.example` after some thousand
 * calls (Node.js 20).
 */
export function readUrl(text: string): URL | undefined {
	try {
		return new URL(text);
	} catch {
		return undefined;
	}
}
