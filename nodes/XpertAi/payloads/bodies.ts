import { z } from 'zod';

import { eachOf, freeForm, openObject, optionalText } from './common';

/** The filters of assistants. */
export const assistantFilter = openObject({
	graph_id: z.string().min(1).optional(),
	metadata: freeForm.optional(),
});

/** The body of a chat session. `expires_after` is in seconds; servers take 600 for 0 and less, and any number above. */
export const chatSession = openObject({
	assistant: z.object({ id: z.string().min(1) }).optional(),
	user: z.string().optional(),
	expires_after: z.number().int().min(1).optional(),
});

/** The elements of a namespace, outermost first, e.g. `["memories", "user-1"]`. */
const namespace = z.array(z.string().min(1));

/** The filters of store items. */
export const storeSearch = openObject({
	namespace_prefix: namespace,
	query: z.string().optional(),
	filter: freeForm.optional(),
});

export const storeNamespace = openObject({
	prefix: namespace.optional(),
	suffix: namespace.optional(),
	max_depth: z.number().int().optional(),
	limit: z.number().int().min(1).optional(),
	offset: z.number().int().min(0).optional(),
});

/** How thoroughly servers parse a file context (recorded, `file-context-parsing`). */
export const PARSE_MODES = ['auto', 'fast', 'deep', 'none'] as const;

/** The optional text parts beside a file. `target` is sent as JSON text. */
export const fileParts = openObject({ target: freeForm.optional() });

/** The optional text parts beside the file of a file context. */
export const fileContextParts = fileParts.extend({
	...eachOf(optionalText, 'purpose', 'conversationId', 'threadId', 'projectId', 'xpertId'),
	workspacePath: optionalText,
	parseMode: z.enum(PARSE_MODES).optional(),
});
