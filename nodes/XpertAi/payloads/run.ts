import { z } from 'zod';

import { freeForm } from './common';

/** A file that goes along with a message, by its id. */
const attachedFile = z.object({ id: z.string().min(1) });

/** A message for an assistant, in the shape Xpert servers take (service behaviour, E4). */
const xpertMessage = z.object({
	action: z.literal('send'),
	message: z.object({
		input: z.object({ input: z.string().min(1), files: z.array(attachedFile).optional() }),
	}),
});

/** A decision that lets an interrupted run go on, in the shape Xpert servers take. */
const xpertDecision = z.object({
	action: z.literal('resume'),
	target: freeForm,
	decision: z.object({ type: z.enum(['confirm', 'reject']), payload: z.unknown() }),
});

/** Who says a chat message. */
const ROLES = ['user', 'assistant', 'system'] as const;

/** Chat messages, in the shape LangGraph servers take. */
export const chatInput = z.object({
	messages: z.array(z.object({ role: z.enum(ROLES), content: z.string().min(1) })).min(1),
});

/** Fields of E4 that LangGraph servers know beyond the input. An omitted one is left out. */
const langGraphFields = z.object({
	config: freeForm.optional(),
	metadata: freeForm.optional(),
	context: freeForm.optional(),
	interrupt_before: z.array(z.string()).optional(),
	interrupt_after: z.array(z.string()).optional(),
	multitask_strategy: z.enum(['reject', 'rollback', 'interrupt', 'enqueue']).optional(),
	if_not_exists: z.enum(['create', 'reject']).optional(),
	on_completion: z.enum(['delete', 'keep']).optional(),
	after_seconds: z.number().min(0).optional(),
	webhook: z.string().optional(),
});

/** A decision in the shape LangGraph servers get it; what resumes a run there is up to the graph. */
const resumeCommand = z.object({ resume: z.unknown() });

/** The body of E4, for either family of servers. */
export const runBody = langGraphFields.extend({
	assistant_id: z.string().min(1),
	input: z.union([xpertMessage, xpertDecision, chatInput]).optional(),
	command: resumeCommand.optional(),
});

/** The bodies of E4 that the node makes of fields, so that a wrong value is named by its field. */
export const runBodies = {
	xpert: {
		message: runBody.extend({ input: xpertMessage }),
		chat: runBody.extend({ input: xpertMessage }),
		decision: runBody.extend({ input: xpertDecision }),
	},
	langgraph: {
		message: runBody.extend({ input: chatInput }),
		chat: runBody.extend({ input: chatInput }),
		decision: runBody.extend({
			command: resumeCommand.extend({ resume: xpertDecision.shape.decision }),
		}),
	},
};

/** A message of a thread; servers name its kind `type` or `role`. */
export const threadMessage = z
	.object({
		type: z.string().optional(),
		role: z.string().optional(),
		content: z.unknown(),
	})
	.passthrough();

/** The answer of E15. */
export const threadState = z
	.object({
		thread_id: z.string().optional(),
		status: z.string().optional(),
		values: z
			.object({ messages: z.array(threadMessage).nullish() })
			.passthrough()
			.nullish(),
		interrupts: z.unknown().optional(),
	})
	.passthrough();

export type ThreadMessage = z.infer<typeof threadMessage>;
export type ThreadState = z.infer<typeof threadState>;
