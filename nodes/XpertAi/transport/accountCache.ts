/** Maximum number of accounts that a cache remembers. Above this limit, the cache removes the oldest entry. */
const MAX_ACCOUNTS = 1_000;

/**
 * Creates a cache for facts about accounts. All executions of this process share the cache. An account identifies a
 * server and a token (see `Connection`).
 *
 * @param create returns the entry of an unknown account
 */
export function createAccountCache<Entry>(create: () => Entry) {
	const entries = new Map<string, Entry>();
	return {
		/** Returns the entry of an account. Creates it if it is missing. */
		of: (account: string): Entry => {
			const entry = entries.get(account) ?? create();
			entries.set(account, entry);
			const [oldest] = entries.keys();
			if (entries.size > MAX_ACCOUNTS && oldest !== undefined) entries.delete(oldest);
			return entry;
		},
		forget: (account: string): void => void entries.delete(account),
	};
}
