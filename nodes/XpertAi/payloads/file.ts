import { z } from 'zod';

import { freeForm } from './common';

/** How thoroughly a file context is read (service behaviour, E12). */
export const PARSE_MODES = ['auto', 'fast', 'deep', 'none'] as const;

/** The text parts that may go along with the file of E16. `target` is sent as JSON text. */
export const fileParts = z.object({ target: freeForm.optional() }).passthrough();

/** The text parts that may go along with the file of E12. */
export const fileContextParts = fileParts.extend({
	purpose: z.string().optional(),
	parseMode: z.enum(PARSE_MODES).optional(),
	conversationId: z.string().optional(),
	threadId: z.string().optional(),
	projectId: z.string().optional(),
	xpertId: z.string().optional(),
	workspacePath: z.string().optional(),
});
