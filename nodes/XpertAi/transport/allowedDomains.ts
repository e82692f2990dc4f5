import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

/** The domains a credential is restricted to, nothing where it is not, or why it cannot be used. */
export type Restriction = { allowedDomains?: string } | { refusal: string };

/**
 * Reads what n8n adds to every credential that signs requests: whether it is restricted to domains, and
 * to which. Read here and not by n8n's own functions, which hosts of today have under the same name with
 * other parameters, and older hosts do not have at all.
 */
export function restrictionOf({
	allowedHttpRequestDomains: mode,
	allowedDomains: listed,
}: ICredentialDataDecryptedObject): Restriction {
	// "None" keeps the credential out of other nodes, and so says nothing about this one.
	if (mode !== 'domains') return {};
	const allowedDomains = typeof listed === 'string' ? listed.trim() : '';
	if (allowedDomains === '') {
		return { refusal: 'The credential is restricted to allowed domains, but lists none' };
	}
	return { allowedDomains };
}

/**
 * Whether the host of an address is one of those listed: as it stands, or below one that starts with
 * `*.`. Hosts that enforce the list themselves do it by the same rule.
 */
export function isAllowedHost(address: string, allowedDomains: string): boolean {
	const host = plainHost(new URL(address).hostname);
	const domains = allowedDomains.split(',').map(plainHost);
	return domains.some((domain) =>
		domain.startsWith('*.') ? domain.length > 2 && host.endsWith(domain.slice(1)) : host === domain,
	);
}

function plainHost(host: string): string {
	return host.trim().toLowerCase().replace(/\.$/, '');
}
