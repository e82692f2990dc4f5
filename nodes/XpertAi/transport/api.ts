/** The credential type that authenticates every request. */
export const CREDENTIAL_NAME = 'xpertAiApi';

/** The root path of the API (contract, "What the service does"). */
export const API_ROOT = '/api/ai';

/**
 * IDs in one address: as many UUIDs, with encoded commas, as fit into the 8 KB that proxies accept. A server
 * needs 0.2 ms for each ID, and hardly less in larger requests.
 */
export const IDS_PER_ADDRESS = 180;

/**
 * Inserts IDs into a path, each encoded as one segment.
 *
 * @param template e.g. `/knowledges/{knowledgebaseId}/bulk`
 * @param ids by name; none is empty or a dot segment (see `Item.id`)
 */
export function buildPath(template: string, ids: Record<string, string>): string {
	return template.replace(/\{(\w+)[*!]?\}/g, (_, name: string) =>
		encodeURIComponent(ids[name] ?? ''),
	);
}
