import type { Endpoint } from '../context';
import type { ApiError } from '../errors';
import { assistantEndpoints } from './assistants';
import { conversationEndpoints } from './conversations';
import { documentEndpoints } from './documents';
import { fileEndpoints } from './files';
import { knowledgebaseEndpoints } from './knowledgebases';
import { processingEndpoints } from './processing';
import { sessionEndpoints } from './sessions';
import { storeEndpoints } from './store';
import { threadEndpoints } from './threads';

/** A server's way of speaking: where its routes lie by default, which there are, and how it says no. */
export interface Dialect {
	prefix: string;
	endpoints: Endpoint[];
	/** An error in the words of this server. */
	worded(error: ApiError): ApiError;
}

/** The Xpert server: all seventeen endpoints of the contract, and two of its own. */
export const xpert: Dialect = {
	prefix: '/api/ai',
	worded: (error) => error,
	endpoints: [
		...knowledgebaseEndpoints,
		...documentEndpoints,
		...processingEndpoints,
		...threadEndpoints,
		...conversationEndpoints,
		...sessionEndpoints,
		...assistantEndpoints,
		...storeEndpoints,
		...fileEndpoints,
	],
};
