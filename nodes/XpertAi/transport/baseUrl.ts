/** The service root, or why the Base URL cannot be used, as a message for the user. */
export type ServiceRoot = { root: string; origin: string } | { refusal: string };

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
