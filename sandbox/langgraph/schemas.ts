import { z } from 'zod';

const object = z.record(z.unknown());
const nodes = z.union([z.literal('*'), z.array(z.string())]);
const page = {
	limit: z.number().int().min(1).max(1000).optional(),
	offset: z.number().int().min(0).optional(),
};

/** The path of a thread. */
export const threadPath = z.object({ thread_id: z.string().uuid() });

/** The body of E4. Fields may be left out, but hardly any may be null. */
export const runBody = z.object({
	assistant_id: z.string(),
	input: z.unknown(),
	command: z.object({ resume: z.unknown() }).passthrough().optional(),
	metadata: object.optional(),
	context: z.unknown(),
	config: z
		.object({
			tags: z.array(z.string()).optional(),
			recursion_limit: z.number().int().optional(),
			configurable: object.optional(),
		})
		.passthrough()
		.optional(),
	webhook: z.string().optional(),
	interrupt_before: nodes.optional(),
	interrupt_after: nodes.optional(),
	multitask_strategy: z.enum(['reject', 'rollback', 'interrupt', 'enqueue']).optional(),
	after_seconds: z.number().optional(),
	if_not_exists: z.enum(['reject', 'create']).optional(),
	on_completion: z.enum(['delete', 'keep']).optional(),
});

const parts = z.array(z.object({ type: z.string(), text: z.string().optional() }).passthrough());

/** A message of a run's input. */
export const chatMessage = z.object({
	role: z.string().optional(),
	type: z.string().optional(),
	content: z.union([z.string(), parts]),
});

/** What the sandbox's assistants take as input; anything else is refused, Xpert's own form too. */
export const runInput = z.object({
	input: z.object({ messages: z.array(chatMessage).min(1) }).passthrough(),
});

/** The body of E7. */
export const assistantSearch = z.object({
	...page,
	metadata: object.optional(),
	graph_id: z.string().optional(),
});

/** The body of E9. */
export const assistantCount = assistantSearch.pick({ metadata: true, graph_id: true });

/** The body of E8. */
export const itemSearch = z.object({
	namespace_prefix: z.array(z.string()),
	filter: object.optional(),
	limit: z.number().default(10),
	offset: z.number().default(0),
	query: z.string().optional(),
});

/** The body of E11. */
export const namespaceList = z.object({
	prefix: z.array(z.string()).default([]),
	suffix: z.array(z.string()).default([]),
	max_depth: z.number().default(Infinity),
	limit: z.number().default(100),
	offset: z.number().default(0),
});
