import type {
	ICredentialDataDecryptedObject,
	IExecuteFunctions,
	ILoadOptionsFunctions,
	IPollFunctions,
} from 'n8n-workflow';

import { CREDENTIAL_NAME } from './api';
import { serviceRoot } from './baseUrl';

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
		const where =
			itemIndex === undefined
				? 'here, where its expressions have no item'
				: `for item ${itemIndex}`;
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
	const service = serviceRoot(
		String(credential.baseUrl ?? ''),
		credential.allowInsecureHttp === true,
	);
	if ('refusal' in service) return service;
	const token = tokenOf(credential);
	if (token === '') return { refusal: 'The Access Token of the credential is empty' };
	if (/[^\x21-\x7e]/.test(token)) {
		return {
			refusal:
				'The Access Token of the credential holds a space, a line break or another character that no token has',
		};
	}
	// n8n adds these fields to every credential that authenticates requests. Its own functions for them have other
	// parameters in current hosts and are missing in older ones. "None" keeps other nodes from using the credential,
	// and does not restrict this one.
	const { allowedHttpRequestDomains: mode, allowedDomains: domainList } = credential;
	const domains = typeof domainList === 'string' ? domainList.trim() : '';
	const allowedDomains = mode === 'domains' ? domains : undefined;
	if (allowedDomains === '')
		return { refusal: 'The credential is restricted to allowed domains, but lists none' };
	if (allowedDomains !== undefined && !isAllowedHost(service.root, allowedDomains)) {
		return {
			refusal: `The allowed domains of the credential do not include the host of its Base URL (${service.origin})`,
		};
	}
	return { root: service.root, allowedDomains };
}

/**
 * Whether the host of an address is listed: exactly, or below an entry that starts with `*.`. Hosts that enforce the
 * list themselves use the same rule.
 */
function isAllowedHost(address: string, allowedDomains: string): boolean {
	const host = plainHost(new URL(address).hostname);
	const domains = allowedDomains.split(',').map(plainHost);
	return domains.some((domain) =>
		domain.startsWith('*.') ? domain.length > 2 && host.endsWith(domain.slice(1)) : host === domain,
	);
}

function plainHost(host: string): string {
	return host.trim().toLowerCase().replace(/\.$/, '');
}
