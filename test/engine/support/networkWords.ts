const unreached = (why: string) => `The server could not be reached: ${why}`;

/** What users read when the way to the server is closed, for the tests and for `docs/reliability.md`. */
export const WORDS = {
	blocked: (target: string) => `n8n's SSRF protection does not allow requests to ${target}`,
	/** n8n's own words, in the test of a credential. */
	blockedTest: 'The request was blocked because it resolves to a restricted IP address',
	noPassword: (reason: string) => `The proxy answered 407: ${reason}`,
	badGateway: 'The server answered 502: an HTML page with the title "Bad Gateway"',
	closed: unreached('the connection was closed before an answer came (ECONNRESET)'),
	noTunnel: unreached('the proxy closed the connection without an answer'),
	nobodyThere: unreached('nothing accepts connections at this address (ECONNREFUSED)'),
	unknownHost: unreached('the host name is not known (ENOTFOUND)'),
	notTrusted: unreached(
		'its certificate is self-signed and not trusted (DEPTH_ZERO_SELF_SIGNED_CERT)',
	),
};
