import { z } from 'zod';

import {
	enumOfKeys,
	freeForm,
	lenientText,
	nullishText,
	openObject,
	optionalText,
	sameSchemaForKeys,
} from './zodHelpers';

export const assistantFilter = openObject({
	graph_id: z.string().min(1).optional(),
	metadata: freeForm.optional(),
});

/** The body of a new chat session. `expires_after` is in seconds. Servers replace 0 and negative numbers with 600. */
export const newChatSession = openObject({
	assistant: z.object({ id: z.string().min(1) }).optional(),
	user: z.string().optional(),
	expires_after: z.number().int().min(1).optional(),
});

/** The elements of a namespace, outermost first, e.g. `["memories", "user-1"]`. */
const namespace = z.array(z.string().min(1));

export const storeSearch = openObject({
	namespace_prefix: namespace,
	query: z.string().optional(),
	filter: freeForm.optional(),
});

export const storeNamespacesBody = openObject({
	prefix: namespace.optional(),
	suffix: namespace.optional(),
	max_depth: z.number().int().optional(),
	limit: z.number().int().min(1).optional(),
	offset: z.number().int().min(0).optional(),
});

/** The parse modes of a file context, with display names. */
export const PARSE_MODES = { auto: 'Auto', fast: 'Fast', deep: 'Deep', none: 'None' };

/** The optional text parts of an upload. `target` is sent as JSON text. */
export const uploadTextParts = openObject({ target: freeForm.optional() });

/** The optional text parts of a file context upload. */
export const contextUploadTextParts = uploadTextParts.extend({
	...sameSchemaForKeys(
		optionalText,
		'purpose',
		'conversationId',
		'threadId',
		'projectId',
		'xpertId',
	),
	workspacePath: optionalText,
	parseMode: enumOfKeys(PARSE_MODES).optional(),
});

/** The body of a new conversation. `threadId` can be any text. */
export const newConversation = openObject({
	...sameSchemaForKeys(nullishText, 'title', 'threadId', 'xpertId', 'projectId'),
	options: freeForm.nullish(),
});

/** The body of a conversation update. The node changes only the title. */
export const conversationTitleBody = openObject({ title: z.string().trim().min(1) });

/** The ratings of an answer, with display names. Servers accept any value, so the node checks the rating. */
export const RATINGS = { like: 'Like', dislike: 'Dislike' };
export const ratingBody = openObject({
	rating: enumOfKeys(RATINGS),
	content: z.string().optional(),
});

/* Filters for conversation messages, with display names. */

export const MESSAGE_ROLES = { human: 'Person', ai: 'Assistant' };
export const MESSAGE_STATUSES = {
	aborted: 'Cancelled',
	error: 'Failed',
	success: 'Complete',
	thinking: 'Under Way',
};

const sortOrder = z.record(z.enum(['ASC', 'DESC']));

export const messageSearchBody = openObject({
	where: openObject({
		role: enumOfKeys(MESSAGE_ROLES).optional(),
		status: enumOfKeys(MESSAGE_STATUSES).optional(),
		executionId: z.string().optional(),
	}),
	order: sortOrder,
});

/** The fields of a conversation that the node reads. A field of an unexpected type counts as missing. */
export const conversationRecordSchema = z.object({
	...sameSchemaForKeys(lenientText, 'id', 'threadId', 'status', 'createdAt'),
	/** Why the last run failed. Converts an error object to JSON text. */
	error: z
		.union([z.string().min(1), freeForm.transform((error) => JSON.stringify(error))])
		.optional()
		.catch(undefined),
	operation: z
		.object({ tasks: z.array(z.unknown()) })
		.nullish()
		.catch(null),
});

export const conversationSearch = openObject({
	search: z.string().optional(),
	where: freeForm.optional(),
	order: sortOrder.optional(),
});

const id = z.string().min(1);

/** A file attached to a message. `fileId` is the ID of a file context. `id` is the ID of a storage file. */
const attachedFile = openObject(sameSchemaForKeys(id.optional(), 'fileId', 'id'));

/** New arguments for tool calls that wait for a decision, by call ID. */
export const changedArguments = z.record(id, freeForm);

/** The request bodies that start a run, by kind of run. */
export const runBodySchemas = {
	message: bodySchema(
		{
			action: z.literal('send'),
			message: openObject({
				/** All keys except those in `NON_FILTER_KEYS` are values for the assistant's filters. */
				input: openObject({ input: z.string().min(1), files: z.array(attachedFile).optional() }),
			}),
			state: freeForm.optional(),
			environmentId: id.optional(),
			projectId: id.optional(),
		},
		{ assistant_id: id },
	),
	decision: bodySchema({
		action: z.literal('resume'),
		target: freeForm,
		/** A rejection must not have a `payload`. With a payload, even null, the server executes the rejected call. */
		decision: openObject({ type: z.enum(['confirm', 'reject']), payload: z.unknown() }),
		/** New arguments of waiting tool calls. Calls without an entry keep their arguments. */
		patch: openObject({ toolCalls: z.array(openObject({ id, args: freeForm })) }).optional(),
	}),
	/** Requests a new answer to the last message of the thread. */
	retry: bodySchema({ action: z.literal('retry'), source: freeForm }),
};

function bodySchema<Input extends z.ZodRawShape>(input: Input, more: z.ZodRawShape = {}) {
	return openObject({ input: openObject(input), context: freeForm.optional(), ...more });
}
