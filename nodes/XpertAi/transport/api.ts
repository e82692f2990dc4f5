/** Name of the credential type every request is signed with. */
export const CREDENTIAL_NAME = 'xpertAiApi';

/** Everything of the API lies below this path (contract, "What the service does"). */
export const API_ROOT = '/api/ai';

/** Ids in one address: servers take addresses of a few kilobytes only. */
export const IDS_PER_ADDRESS = 50;

/**
 * Puts ids into a path, each encoded as one segment.
 *
 * @param template e.g. `/knowledges/{knowledgebaseId}/bulk`
 * @param ids by name; none is empty or a dot segment (see `readId`)
 */
export function buildPath(template: string, ids: Record<string, string>): string {
	return template.replace(/\{(\w+)\*?\}/g, (_, name: string) =>
		encodeURIComponent(ids[name] ?? ''),
	);
}
