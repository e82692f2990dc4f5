/** The name of the credential type that authenticates every request. */
export const CREDENTIAL_NAME = 'xpertAiApi';

/** The default root path of the API. */
export const API_ROOT = '/api/ai';

/** The maximum number of IDs in one URL. With this many UUIDs, a URL stays below the 8 KB that proxies accept. */
export const MAX_IDS_PER_URL = 180;

/**
 * Replaces the placeholders of a path with encoded IDs. The placeholders `{id*}` and `{id!}` work like `{id}`.
 *
 * @param template e.g. `/knowledges/{knowledgebaseId}/bulk`
 * @param ids the IDs by placeholder name. The schemas of ID fields reject IDs that would change the path, such as `..`.
 */
export function buildPath(template: string, ids: Record<string, string>): string {
	return template.replace(/\{(\w+)[*!]?\}/g, (_, name: string) =>
		encodeURIComponent(ids[name] ?? ''),
	);
}
