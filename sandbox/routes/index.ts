import type { Endpoint } from '../context';
import { assistantEndpoints } from './assistants';
import { conversationEndpoints } from './conversations';
import { documentEndpoints } from './documents';
import { fileEndpoints } from './files';
import { knowledgebaseEndpoints } from './knowledgebases';
import { sessionEndpoints } from './sessions';
import { storeEndpoints } from './store';
import { threadEndpoints } from './threads';

/** A server's way of speaking: where its routes lie, and which there are. */
export interface Dialect {
	prefix: string;
	endpoints: Endpoint[];
}

/** The Xpert server: all seventeen endpoints of the contract. */
export const xpert: Dialect = {
	prefix: '/api/ai',
	endpoints: [
		...knowledgebaseEndpoints,
		...documentEndpoints,
		...threadEndpoints,
		...conversationEndpoints,
		...sessionEndpoints,
		...assistantEndpoints,
		...storeEndpoints,
		...fileEndpoints,
	],
};
