import type {
	ICredentialDataDecryptedObject,
	IExecuteFunctions,
	ILoadOptionsFunctions,
	IPollFunctions,
} from 'n8n-workflow';

import { CREDENTIAL_NAME } from './api';
import { serviceRoot } from './baseUrl';
import { spellingsOf } from './sanitize';

/** Where requests are sent from: an execution, a list in the editor, or a poll of the trigger. */
export type RequestContext = IExecuteFunctions | ILoadOptionsFunctions | IPollFunctions;

/** The fields of a credential, or why they cannot be had: an expression in one of them gave nothing. */
export type ReadCredential = ICredentialDataDecryptedObject | { refusal: string };

/**
 * Reads the credential, whose fields may be expressions.
 *
 * @param itemIndex the item that they are resolved for; lists in the editor and triggers have none
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
type Target = { root: string; allowedDomains?: string } | { refusal: string };

/** What stands before a token that was copied with its header. Also part of `authenticate`, which knows expressions only. */
export const BEFORE_TOKEN = /^(?:Authorization:\s*)?Bearer\s+/i;

/** The token as it is sent. */
const tokenOf = ({ accessToken }: ICredentialDataDecryptedObject) =>
	String(accessToken ?? '')
		.trim()
		.replace(BEFORE_TOKEN, '');

/** All ways to write what of a credential must not come out. */
export function secretsOf(credential: ReadCredential): string[] {
	return isRefused(credential) ? [] : spellingsOf(tokenOf(credential));
}

/** The address that a credential leads to; nothing that it forbids, or that no request can be made of. */
export function readTarget(credential: ReadCredential): Target {
	if (isRefused(credential)) return credential;
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
	// What n8n adds to every credential that signs requests. Its own functions for it have other parameters in hosts
	// of today, and older hosts lack them. "None" keeps the credential out of other nodes, and says nothing about this.
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

const isRefused = (credential: ReadCredential): credential is { refusal: string } =>
	typeof credential.refusal === 'string';

/**
 * Whether the host of an address is one of those listed: as it stands, or below one that starts with
 * `*.`. Hosts that enforce the list themselves do it by the same rule.
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
