/** The settings of a request that reads a record. */
export const READ_REQUEST = { method: 'GET', repeatable: true } as const;

/** The settings of a request that searches records. */
export const SEARCH_REQUEST = { method: 'POST', repeatable: true } as const;
