import type { Endpoint } from '../context';
import { assistantEndpoints } from './assistants';
import { conversationEndpoints } from './conversations';
import { documentEndpoints } from './documents';
import { fileEndpoints } from './files';
import { knowledgebaseEndpoints } from './knowledgebases';
import { runEndpoints } from './runs';
import { sessionEndpoints } from './sessions';
import { storeEndpoints } from './store';
import { threadEndpoints } from './threads';

/** All seventeen endpoints of the contract, and some of the server's own. */
export const endpoints: Endpoint[] = [
	...knowledgebaseEndpoints,
	...documentEndpoints,
	...runEndpoints,
	...threadEndpoints,
	...conversationEndpoints,
	...sessionEndpoints,
	...assistantEndpoints,
	...storeEndpoints,
	...fileEndpoints,
];

/** A route, whatever its parameters are called. */
export const anonymous = (route: string) =>
	route.replace(/\?.*/, '').replace(/:\w+|\{\w+[!*]?\}/g, ':');

/** What the route of a request is called: `E1` to `E17` in the contract. */
export const routeName = (method: string, path: string) =>
	endpoints.find((one) => one.method === method && anonymous(one.path) === anonymous(path))?.id;
