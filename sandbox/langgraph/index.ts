import type { Dialect } from '../routes';
import { assistantEndpoints } from './assistants';
import { worded } from './errors';
import { storeEndpoints } from './store';
import { threadEndpoints } from './threads';

/**
 * The LangGraph Agent Server: E4, E7 to E11 and E15. It has no `/api/ai` of its own, but is put there unless
 * told otherwise, because that is where clients of the API call.
 */
export const langgraph: Dialect = {
	prefix: '/api/ai',
	endpoints: [...threadEndpoints, ...assistantEndpoints, ...storeEndpoints],
	worded,
};
