/** The settings of a request that reads a record. */
export const READ_REQUEST = { method: 'GET', repeatable: true } as const;

/** The settings of a request that searches records. */
export const SEARCH_REQUEST = { method: 'POST', repeatable: true } as const;

/** The path of the request that creates a conversation (E13). */
export const CONVERSATIONS_PATH = '/conversations';

/** The path of one conversation. */
export const CONVERSATION_PATH = '/conversations/{conversationId}';

/** The path of the search for conversations (E5). */
export const CONVERSATION_SEARCH_PATH = '/conversations/search';

/** The path of one message in a conversation. */
export const MESSAGE_PATH = '/conversations/{conversationId}/messages/{messageId}';

/** The path of the search for messages in a conversation. */
export const MESSAGE_SEARCH_PATH = '/conversations/{conversationId}/messages/search';
