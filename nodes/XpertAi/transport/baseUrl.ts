/** The service root, or why the Base URL cannot be used, in words for the user. */
export type ServiceRoot = { root: string; origin: string } | { refusal: string };

const LOOPBACK_HOST = /^(localhost|(.+\.)?localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * Reads the Base URL of the credential. A trailing slash, `/api` and `/api/ai` at its end all mean
 * the same service (`{base_url}/api/ai`, contract); a path before them is kept for servers behind a proxy.
 *
 * @param baseUrl what the user typed
 * @param allowInsecureHttp the credential's switch; without it only HTTPS and loopback hosts pass
 * @returns the root without trailing slash, or the refusal
 */
export function serviceRoot(baseUrl: string, allowInsecureHttp: boolean): ServiceRoot {
	const text = baseUrl.trim();
	if (text === '')
		return {
			refusal:
				'The Base URL is empty. Enter the address of the server, e.g. https://api.example.com',
		};
	if (!/^https?:\/\/[^/\\?#]/i.test(text) || !URL.canParse(text)) {
		return {
			refusal:
				'The Base URL is not a web address. It starts with https://, e.g. https://api.example.com',
		};
	}
	const url = new URL(text);
	if (url.username !== '' || url.password !== '') {
		return {
			refusal:
				'The Base URL must not hold a user name or password. Enter the token in Access Token',
		};
	}
	if (url.protocol === 'http:' && !allowInsecureHttp && !LOOPBACK_HOST.test(url.hostname)) {
		return {
			refusal:
				'The Base URL starts with http://, which would send the access token unencrypted. Use https://, or switch on Allow Insecure HTTP',
		};
	}
	const path = url.pathname
		.replace(/\/+$/, '')
		.replace(/\/api(\/ai)?$/i, '')
		.replace(/\/+$/, '');
	return { root: `${url.origin}${path}`, origin: url.origin };
}
