/** Reasons for a rejected certificate, by error code of Node.js (https://nodejs.org/api/tls.html). */
export const CERTIFICATE_REASONS = new Map(
	(
		[
			['has expired', 'CERT_HAS_EXPIRED'],
			['is not valid yet', 'CERT_NOT_YET_VALID'],
			['was revoked', 'CERT_REVOKED'],
			['is self-signed and not trusted', 'DEPTH_ZERO_SELF_SIGNED_CERT'],
			['is for another host', 'ERR_TLS_CERT_ALTNAME_INVALID', 'HOSTNAME_MISMATCH'],
			[
				'comes from an authority that is not known',
				'UNABLE_TO_GET_ISSUER_CERT',
				'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
				'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
			],
			[
				'comes from an authority that is not trusted',
				'SELF_SIGNED_CERT_IN_CHAIN',
				'CERT_UNTRUSTED',
				'CERT_REJECTED',
				'CERT_CHAIN_TOO_LONG',
				'PATH_LENGTH_EXCEEDED',
				'INVALID_CA',
			],
			['was not made for a server', 'INVALID_PURPOSE'],
			[
				'is damaged',
				'CERT_SIGNATURE_FAILURE',
				'UNABLE_TO_DECRYPT_CERT_SIGNATURE',
				'UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY',
				'ERROR_IN_CERT_NOT_BEFORE_FIELD',
				'ERROR_IN_CERT_NOT_AFTER_FIELD',
			],
		] as const
	).flatMap(([reason, ...codes]) =>
		codes.map((code): [string, string] => [code, `its certificate ${reason}`]),
	),
);

/** Reasons for a connection that could not be opened, by error code. Nothing was sent. */
export const UNCONNECTED_REASONS = new Map([
	['ECONNREFUSED', 'nothing accepts connections at this address'],
	['ENOTFOUND', 'the host name is not known'],
	['EAI_AGAIN', 'the host name could not be looked up just now'],
	['EHOSTUNREACH', 'the host cannot be reached'],
	['ENETUNREACH', 'the network cannot be reached'],
]);

/** Reasons for network errors, by error code, or by message if there is no code. */
export const NETWORK_REASONS = new Map([
	...CERTIFICATE_REASONS,
	...UNCONNECTED_REASONS,
	['EPROTO', 'no secure connection could be agreed on'],
	['ECONNRESET', 'the connection was closed before an answer came'],
	['EPIPE', 'the connection was closed while sending'],
	// axios uses this code if the connection closes in the middle of an answer.
	['ERR_BAD_RESPONSE', 'the connection was closed in the middle of the answer'],
	[
		'Proxy connection ended before receiving CONNECT response',
		'the proxy closed the connection without an answer',
	],
]);

/**
 * Matches error codes of a TLS connection that could not be opened. Some certificate errors have other codes, see
 * `CERTIFICATE_REASONS`.
 */
const TLS_CODE = /^(EPROTO|ERR_TLS_.+|CERT_.+)$/;

/** Matches the TLS errors that occur when a server answers in plain HTTP. */
export const PLAIN_HTTP_ERROR = /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG/;

export const isTlsErrorCode = (code: string) =>
	CERTIFICATE_REASONS.has(code) || TLS_CODE.test(code) || PLAIN_HTTP_ERROR.test(code);
