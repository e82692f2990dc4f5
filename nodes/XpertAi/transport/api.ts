/** Name of the credential type every request is signed with. */
export const CREDENTIAL_NAME = 'xpertAiApi';

/** Everything of the API lies below this path (contract, "What the service does"). */
export const API_ROOT = '/api/ai';

/**
 * Ids in one address: as many UUIDs, with their commas encoded, as stay below the 4 KB that proxies take at least.
 * A server needs 0.2 ms for each of a hundred, and no less than two thirds of that for each of more.
 */
export const IDS_PER_ADDRESS = 100;

/**
 * Puts ids into a path, each encoded as one segment.
 *
 * @param template e.g. `/knowledges/{knowledgebaseId}/bulk`
 * @param ids by name; none is empty or a dot segment (see `Item.id`)
 */
export function buildPath(template: string, ids: Record<string, string>): string {
	return template.replace(/\{(\w+)[*!]?\}/g, (_, name: string) =>
		encodeURIComponent(ids[name] ?? ''),
	);
}
