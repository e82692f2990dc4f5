/** The name of the credential type that authenticates every request. */
export const CREDENTIAL_NAME = 'xpertAiApi';

/** The root path of the API (contract, section "What the service does"). */
export const API_ROOT = '/api/ai';

/**
 * The maximum number of IDs in one address. This many UUIDs, with encoded commas, stay below the 8 KB that proxies
 * accept. Longer addresses would hardly be faster, because a server needs only 0.2 ms for each ID.
 */
export const IDS_PER_ADDRESS = 180;

/**
 * Replaces the placeholders of a path by IDs, each encoded as one segment. The marks `*` and `!` of placeholders have
 * no effect here.
 *
 * @param template e.g. `/knowledges/{knowledgebaseId}/bulk`
 * @param ids the IDs by placeholder name. None may be empty, `.` or `..`, which would change the path;
 * `Reader.filledText` rejects these values.
 */
export function buildPath(template: string, ids: Record<string, string>): string {
	return template.replace(/\{(\w+)[*!]?\}/g, (_, name: string) =>
		encodeURIComponent(ids[name] ?? ''),
	);
}
