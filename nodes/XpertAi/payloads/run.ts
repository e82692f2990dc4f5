import { z } from 'zod';

import { freeForm } from './common';

const id = z.string().min(1);

/**
 * A file that goes along with a message: `fileId` takes the id of a file context (E12), `id` that of a
 * storage file (`storageFileId` of E12, `id` of E16). The one in place of the other answers 400.
 */
const attachedFile = z.object({ fileId: id.optional(), id: id.optional() });

/** A message for an assistant (service behaviour, E4). */
const message = z.object({
	action: z.literal('send'),
	message: z.object({
		/** Beside these, what filters of the assistant take from the message. */
		input: z
			.object({ input: z.string().min(1), files: z.array(attachedFile).optional() })
			.passthrough(),
	}),
	state: freeForm.optional(),
	environmentId: id.optional(),
	projectId: id.optional(),
});

/** A decision that lets an interrupted run go on. */
const decision = z.object({
	action: z.literal('resume'),
	target: freeForm,
	/** Only a confirmation takes a payload: with one, a rejection carries out what it rejects. */
	decision: z.object({ type: z.enum(['confirm', 'reject']), payload: z.unknown() }),
	/** Other arguments for calls that wait; those that are left out stay as they are. */
	patch: z.object({ toolCalls: z.array(z.object({ id, args: freeForm })) }).optional(),
});

/** Other arguments for calls, by their ids, as a person gives them. */
export const changedArguments = z.record(id, freeForm);

/** Has the last message of the thread answered anew. */
const retry = z.object({ action: z.literal('retry'), source: freeForm });

/** The bodies of E4 that the node makes of fields. */
export const runBodies = {
	message: bodyWith(message),
	decision: bodyWith(decision),
	retry: bodyWith(retry),
};

/** Any of them. */
export const anyRunBody = z.union([runBodies.message, runBodies.decision, runBodies.retry]);

function bodyWith<Input extends z.ZodTypeAny>(input: Input) {
	return z.object({ assistant_id: id, input, context: freeForm.optional() });
}
