import { z } from 'zod';

import { lenientNumber, lenientText, sameSchemaForKeys } from '../payloads/zodHelpers';

/*
 * A run of the assistant can be read from three sources: the event stream of the run, the run's message in the
 * conversation, or the run's messages on the thread. All three sources contain the same parts, as
 * `test/recordings/one-question-1.json` to `one-question-6.json` show.
 */

const lenientList = z.array(z.unknown()).optional().catch(undefined);

export const partSchema = z
	.object({
		/**
		 * - `type`: `text`, `component` (a tool call or a workflow step), or another type such as an image.
		 * - `id`: the ID of the model call (for a text) or of the tool call (for a component).
		 * - `xpertName`: the name of the sub-agent; undefined for the assistant itself.
		 */
		...sameSchemaForKeys(lenientText, 'type', 'id', 'text', 'agentKey', 'executionId', 'xpertName'),
		data: z
			.object({
				...sameSchemaForKeys(lenientText, 'status', 'type', 'tool'),
				/** The result of a tool is in `output`. The result of a workflow step is in `data`. */
				...sameSchemaForKeys(z.unknown(), 'input', 'output', 'data', 'error'),
			})
			.optional()
			.catch(undefined),
	})
	.passthrough();

/** A text, a tool call or another part of an answer. */
export type AnswerPart = z.infer<typeof partSchema>;

export const eventDataSchema = z.object({
	/** `category` is `workflow` for a workflow step. */
	...sameSchemaForKeys(
		lenientText,
		'id',
		'agentKey',
		'category',
		'parentId',
		'title',
		'status',
		'error',
	),
	...sameSchemaForKeys(lenientNumber, 'tokens', 'inputTokens', 'outputTokens'),
	inputs: z.unknown(),
	operation: z.object({ tasks: lenientList }).optional().catch(undefined),
});

export type EventData = z.infer<typeof eventDataSchema>;

export const eventSchema = z.object({ type: z.string(), event: lenientText, data: z.unknown() });

/** Matches the names of events of the type `event` in `test/recordings`. `RunTranscript.applyEvent` reads some of them. */
const KNOWN_EVENT_PATTERN =
	/^on_(conversation_(start|end)|message_(start|end)|agent_(start|end)|chat_event|interrupt)$/;

export const isKnownEvent = ({ type, event = '' }: z.infer<typeof eventSchema>) =>
	['message', 'complete'].includes(type) || (type === 'event' && KNOWN_EVENT_PATTERN.test(event));
