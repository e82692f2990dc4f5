import type { Endpoint } from '../context';
import { assistantEndpoints } from './assistants';
import { conversationEndpoints } from './conversations';
import { documentEndpoints } from './documents';
import { fileEndpoints } from './files';
import { knowledgebaseEndpoints } from './knowledgebases';
import { processingEndpoints } from './processing';
import { sessionEndpoints } from './sessions';
import { storeEndpoints } from './store';
import { threadEndpoints } from './threads';

/** All seventeen endpoints of the contract, and two of the server's own. */
export const endpoints: Endpoint[] = [
	...knowledgebaseEndpoints,
	...documentEndpoints,
	...processingEndpoints,
	...threadEndpoints,
	...conversationEndpoints,
	...sessionEndpoints,
	...assistantEndpoints,
	...storeEndpoints,
	...fileEndpoints,
];
