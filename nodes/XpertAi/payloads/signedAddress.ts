/** Matches the parameters of a shared access signature. */
const AZURE_PARAMETER_PATTERN =
	/^(s[eiprstv]|sig|spr|sip|srt|sdd|ses|sk[estv]|skoid|sktid|s[au]oid|scid)$/;

/**
 * Returns a pattern for the signature parameters with a prefix, such as `x-oss-date`. It does not match parameters that
 * change the content, such as `x-oss-process`.
 */
const signatureParameterPattern = (prefix: string) =>
	new RegExp(
		`^${prefix}-(access-key-id|additional-headers|algorithm|credential|date|expires|security-token|signature|signature-version|signedheaders|signedqueries)$`,
	);

/** Matches the parameters of an older scheme. These schemes differ only in the names of the key ID and the token. */
const olderSchemePattern = (keyId: string, token = '') =>
	new RegExp(`^(signature|expires|${keyId}${token && `|${token}`})$`);

/**
 * Known schemes of signed URLs, from the documentation of the services. URLs that differ only in these parameters lead
 * to the same content.
 *
 * - `identifyingParameters`: the query parameters that identify the scheme
 * - `addedPattern`: matches the name of each query parameter that the scheme adds
 */
export const SIGNATURE_SCHEMES: Array<{
	service: string;
	identifyingParameters: string[];
	addedPattern: RegExp;
}> = [
	{
		service: 'Amazon S3',
		identifyingParameters: ['x-amz-signature', 'x-amz-date'],
		addedPattern: /^x-amz-/,
	},
	{
		service: 'Amazon S3',
		identifyingParameters: ['signature', 'expires', 'awsaccesskeyid'],
		addedPattern: olderSchemePattern('awsaccesskeyid', 'x-amz-security-token'),
	},
	{
		service: 'CloudFront',
		identifyingParameters: ['policy', 'signature', 'key-pair-id'],
		addedPattern: /^(policy|signature|key-pair-id)$/,
	},
	{
		service: 'CloudFront',
		identifyingParameters: ['signature', 'expires', 'key-pair-id'],
		addedPattern: olderSchemePattern('key-pair-id'),
	},
	{
		service: 'Google',
		identifyingParameters: ['x-goog-signature', 'x-goog-date'],
		addedPattern: /^x-goog-/,
	},
	{
		service: 'Google',
		identifyingParameters: ['signature', 'expires', 'googleaccessid'],
		addedPattern: olderSchemePattern('googleaccessid'),
	},
	{ service: 'Azure', identifyingParameters: ['sv', 'sig'], addedPattern: AZURE_PARAMETER_PATTERN },
	{
		service: 'Alibaba',
		identifyingParameters: ['x-oss-signature', 'x-oss-expires'],
		addedPattern: signatureParameterPattern('x-oss'),
	},
	{
		service: 'Alibaba',
		identifyingParameters: ['signature', 'expires', 'ossaccesskeyid'],
		addedPattern: olderSchemePattern('ossaccesskeyid', 'security-token'),
	},
	{
		service: 'Tencent',
		identifyingParameters: ['q-sign-algorithm', 'q-signature'],
		addedPattern:
			/^(q-(ak|header-list|key-time|sign-algorithm|sign-time|signature|url-param-list)|x-cos-security-token)$/,
	},
	{
		service: 'Huawei',
		identifyingParameters: ['signature', 'expires', 'accesskeyid'],
		addedPattern: olderSchemePattern('accesskeyid', 'x-obs-security-token'),
	},
	{
		service: 'Volcengine',
		identifyingParameters: ['x-tos-signature', 'x-tos-expires'],
		addedPattern: signatureParameterPattern('x-tos'),
	},
];

/**
 * Removes a signature of a known scheme from a URL, because the signature changes over time. Returns any other URL
 * unchanged.
 */
export function unsignedAddress(address: string): string {
	const [, beforeQuery = '', query = '', fragment = ''] =
		/^([^?#]*)\?([^#]*)(.*)$/s.exec(address) ?? [];
	const nameOf = (parameter: string) => parameter.replace(/=.*/s, '').toLowerCase();
	const parameters = query.split('&');
	const names = parameters.map(nameOf);
	const scheme = SIGNATURE_SCHEMES.find(({ identifyingParameters }) =>
		identifyingParameters.every((name) => names.includes(name)),
	);
	if (!scheme) return address;
	const kept = parameters
		.filter((parameter) => !scheme.addedPattern.test(nameOf(parameter)))
		.join('&');
	return `${beforeQuery}${kept && `?${kept}`}${fragment}`;
}
