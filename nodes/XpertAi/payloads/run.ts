import { z } from 'zod';

import { freeForm, openObject } from './common';

const id = z.string().min(1);

/**
 * A file attached to a message: `fileId` takes the ID of a file context (E12), `id` that of a storage file
 * (`storageFileId` of E12, `id` of E16). Swapping them answers 400.
 */
const attachedFile = z.object({ fileId: id.optional(), id: id.optional() });

/** A message for an assistant (service behaviour, E4). */
const message = z.object({
	action: z.literal('send'),
	message: z.object({
		/** Also holds the fields that filters of the assistant use. */
		input: openObject({ input: z.string().min(1), files: z.array(attachedFile).optional() }),
	}),
	state: freeForm.optional(),
	environmentId: id.optional(),
	projectId: id.optional(),
});

/** A decision that resumes an interrupted run. */
const decision = z.object({
	action: z.literal('resume'),
	target: freeForm,
	/** Only a confirmation takes a payload: a rejection with one carries out what it rejects. */
	decision: z.object({ type: z.enum(['confirm', 'reject']), payload: z.unknown() }),
	/** Changed arguments of waiting calls; others stay as they are. */
	patch: z.object({ toolCalls: z.array(z.object({ id, args: freeForm })) }).optional(),
});

/** Changed arguments of calls, by call ID, as a user enters them. */
export const changedArguments = z.record(id, freeForm);

/** Retries the last message of the thread. */
const retry = z.object({ action: z.literal('retry'), source: freeForm });

/** The bodies of E4 that the node makes from fields. */
export const runBodies = {
	message: bodyWith(message),
	decision: bodyWith(decision),
	retry: bodyWith(retry),
};

function bodyWith<Input extends z.ZodTypeAny>(input: Input) {
	return z.object({ assistant_id: id, input, context: freeForm.optional() });
}
