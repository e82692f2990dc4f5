import { z } from 'zod';

import { freeForm, openObject } from './common';

const id = z.string().min(1);

/**
 * A file attached to a message: `fileId` takes the ID of a file context (E12), `id` that of a storage file
 * (`storageFileId` of E12, `id` of E16). Swapping them answers 400.
 */
const attachedFile = openObject({ fileId: id.optional(), id: id.optional() });

/** Changed arguments of calls, by call ID, as a user enters them. */
export const changedArguments = z.record(id, freeForm);

/** The bodies of E4 and of the route that starts runs, by what they ask for. Only a message names the assistant. */
export const runBodies = {
	message: bodyWith(
		{
			action: z.literal('send'),
			message: openObject({
				/** Also holds the fields that filters of the assistant use. */
				input: openObject({ input: z.string().min(1), files: z.array(attachedFile).optional() }),
			}),
			state: freeForm.optional(),
			environmentId: id.optional(),
			projectId: id.optional(),
		},
		{ assistant_id: id },
	),
	decision: bodyWith({
		action: z.literal('resume'),
		target: freeForm,
		/** Only a confirmation takes a payload: a rejection with one carries out what it rejects. */
		decision: openObject({ type: z.enum(['confirm', 'reject']), payload: z.unknown() }),
		/** Changed arguments of waiting calls; others stay as they are. */
		patch: openObject({ toolCalls: z.array(openObject({ id, args: freeForm })) }).optional(),
	}),
	/** Answers the last message of the thread again. */
	retry: bodyWith({ action: z.literal('retry'), source: freeForm }),
};

function bodyWith<Input extends z.ZodRawShape>(input: Input, more: z.ZodRawShape = {}) {
	return openObject({ input: openObject(input), context: freeForm.optional(), ...more });
}
