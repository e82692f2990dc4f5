import { compact } from 'lodash';

import { type Failure, type FailureKind, hasSuccessStatus, isConnectionClosed } from './failure';
import { CERTIFICATE_REASONS, NETWORK_REASONS, PLAIN_HTTP_ERROR } from './networkCodes';
import { sanitizedLine } from './sanitizedLine';

/** The advice for each kind of failure. */
const KIND_ADVICE: Record<FailureKind, string> = {
	invalidCredential: 'Open the Xpert AI credential and correct it there.',
	blocked:
		'If the Base URL of the credential is right, whoever runs n8n can allow its address in N8N_SSRF_ALLOWED_IP_RANGES or its host name in N8N_SSRF_ALLOWED_HOSTNAMES.',
	cancelled: '',
	timeout: 'Check how busy the server is. It may still have done the work.',
	network: 'Check the Base URL of the credential, the server, and the proxy if n8n uses one.',
	redirect: 'Enter the address the server points to as the Base URL of the credential.',
	unsuccessful: '',
	unreadable:
		'Enter the address of an Xpert AI server as Base URL in the credential, not that of a page, and look at proxies and sign-in pages on the way. What was asked for may have been done.',
	status: '',
};

const STATUS_ADVICE: Record<number, string> = {
	401: 'Make a new key under Settings → API Keys on the server and enter it in the credential: this one may have expired, or belong to another server.',
	404: 'Enter the address of an Xpert AI server as Base URL in the credential, without the path of a page. An older server may not offer this operation, and proxies also answer this way while their server is away.',
	407: 'The proxy between n8n and the server asks for a user name and password. Whoever runs n8n adds them to its address in HTTPS_PROXY.',
	408: 'The server gave up waiting. Run it again later.',
	413: 'Make it smaller, or have the limit raised: Xpert AI servers take 50 MB of JSON in one request, many proxies less.',
	429: 'Wait, then run it again with fewer at once.',
	500: 'Xpert AI servers answer this way to an ID that is not a UUID and to a body they cannot read. Then look up the request ID in the log of the server.',
};

const OUTAGE_ADVICE = 'The server could not finish the request. Run it again later.';

const SUCCESS_STATUS_ADVICE =
	'It may have done part of the work. Look up the request ID in the log of the server.';

const MISSING_RECORD_ADVICE =
	'The server does not have this, or the key may not see it. Check the IDs and names you have given.';

const CUT_OFF_ADVICE =
	'The server or a proxy broke off: it was restarted, or takes nothing this large. Run it again, or make it smaller. The server may have done the work.';

const PLAIN_HTTP_ADVICE =
	'Enter the Base URL with the port that speaks https, or with http:// and, for another host, Allow Insecure HTTP.';

const CERTIFICATE_ADVICE =
	'Certificates are always checked. Have that of the server corrected. For an authority of your own, whoever runs n8n names the file of its certificate in NODE_EXTRA_CA_CERTS.';

/** Describes a failure in one sentence. */
export const failureMessage = (failure: Failure): string => MESSAGES[failure.kind](failure);

const MESSAGES: Record<FailureKind, (failure: Failure) => string> = {
	invalidCredential: ({ reason }) => reason ?? 'The request was not sent',
	blocked: ({ reason }) => `n8n's SSRF protection does not allow requests to ${reason}`,
	// n8n recognizes a stopped execution by the word "canceled" in this text.
	cancelled: () => 'The execution was canceled before the server answered',
	timeout: () => 'The server did not answer in time',
	network: (failure) => {
		const { code, reason } = failure;
		const known = speaksPlainHttp(failure)
			? 'the address speaks http, not https'
			: (NETWORK_REASONS.get(code ?? reason ?? '') ?? reason ?? 'the connection broke');
		return `The server could not be reached: ${known}${code ? ` (${code})` : ''}`;
	},
	redirect: ({ reason, status }) =>
		`The server redirects to ${reason ?? 'another address'}, which the node does not follow with your token (HTTP ${status})`,
	// The reason can be raw text from a 2xx answer.
	unsuccessful: ({ reason = '' }) => sanitizedLine(reason) ?? 'It did not end well',
	unreadable: ({ reason, status }) =>
		`The server's answer cannot be read: ${reason} (HTTP ${status})`,
	status: (failure) => {
		const { reason, status = 0 } = failure;
		const known = STATUS_MESSAGES[status];
		if (hasSuccessStatus(failure))
			return `The server says that it failed: ${reason || 'it gave no reason'} (HTTP ${status})`;
		if (known) return `${known}${reason ? `: ${reason}` : ''} (HTTP ${status})`;
		return `The ${status === 407 ? 'proxy' : 'server'} answered ${status}: ${reason || 'it gave no reason'}`;
	},
};

/** Messages for common error statuses. */
const STATUS_MESSAGES: Record<number, string> = {
	401: 'The server does not accept this key',
	403: 'This key may not do this',
	413: 'This is too large for the server',
	429: 'The server takes no more requests just now',
};

const speaksPlainHttp = ({ kind, code, reason = '' }: Failure) =>
	kind === 'network' && PLAIN_HTTP_ERROR.test(`${code} ${reason}`.replace(/ /g, '_').toUpperCase());

/**
 * Describes what the user can do, or says that the server does not offer the operation. Includes the wait time that the
 * server asks for. Empty if there is nothing to say.
 *
 * @param advice replaces the general advice; has no effect if the server does not offer the operation
 */
export function failureDescription(failure: Failure, advice = generalAdvice(failure)): string {
	const { status, reason = '', retryAfterMs } = failure;
	const isOffered = status !== 501 && !/not (yet )?implemented/i.test(reason);
	return compact([
		isOffered ? advice : 'This server does not offer this operation.',
		retryAfterMs && `The server asks to wait ${Math.ceil(retryAfterMs / 1000)} seconds.`,
	]).join(' ');
}

/** Returns the advice for the kind and status of a failure, or an empty text. */
function generalAdvice(failure: Failure): string {
	const { kind, status = 0, code = '', missing } = failure;
	if (missing === 'record') return MISSING_RECORD_ADVICE;
	if (speaksPlainHttp(failure)) return PLAIN_HTTP_ADVICE;
	if (kind === 'network' && CERTIFICATE_REASONS.has(code)) return CERTIFICATE_ADVICE;
	if (isConnectionClosed(failure)) return CUT_OFF_ADVICE;
	if (kind !== 'status') return KIND_ADVICE[kind];
	if (hasSuccessStatus(failure)) return SUCCESS_STATUS_ADVICE;
	return STATUS_ADVICE[status] ?? (status >= 500 ? OUTAGE_ADVICE : '');
}
