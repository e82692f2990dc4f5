import { EventEmitter, once } from 'node:events';
import { z } from 'zod';

function isPattern(text: string): boolean {
	try {
		return new RegExp(text) instanceof RegExp;
	} catch {
		return false;
	}
}

const match = z.object({
	/** Endpoint of the contract, e.g. `E3`, or one of Xpert's own, `process` and `status`. */
	endpoint: z.string().optional(),
	method: z.string().optional(),
	/** Regular expression over the path with its query. */
	path: z.string().refine(isPattern, 'Not a regular expression').optional(),
	/** Which of the matching requests, counted from 1; all when left out. */
	nth: z.union([z.number().int(), z.array(z.number().int())]).optional(),
	times: z.number().int().optional(),
});

/** What `during` waits for before it acts, in milliseconds; a request answered by then is left alone. */
const patience = z.number().default(20);

const action = z.discriminatedUnion('do', [
	z.object({
		do: z.literal('delay'),
		ms: z.number(),
		/** `between` has looked for the conversation that it makes, and not made it yet. */
		when: z.enum(['before', 'between', 'after']).default('before'),
	}),
	/** Nothing is worked on before the rules are cleared. */
	z.object({ do: z.literal('hold') }),
	z.object({
		do: z.literal('status'),
		status: z.number().int(),
		/** Text is sent as it is (as text/plain unless `contentType` says otherwise), anything else as JSON. */
		body: z.unknown(),
		headers: z.record(z.string()).optional(),
		contentType: z.string().optional(),
		/** `during` answers after `ms`, as a gateway does, while the server works on; `after` when it is done. */
		when: z.enum(['before', 'during', 'after']).default('before'),
		ms: patience,
	}),
	z.object({
		do: z.literal('drop'),
		/**
		 * `unread` cuts the connection before the body is read, `before` when it was read, `after` when all is
		 * done; `during` lets the server work on and cuts the connection after `ms`.
		 */
		when: z.enum(['unread', 'before', 'during', 'after']).default('before'),
		ms: patience,
		/** Resets the connection (RST) instead of closing it. */
		reset: z.boolean().default(false),
	}),
	z.object({ do: z.literal('truncate'), bytes: z.number().int().optional() }),
	z.object({ do: z.literal('contentType'), value: z.string() }),
	z.object({ do: z.literal('redirect'), to: z.string(), status: z.number().int().default(307) }),
	/** Whoever starts a run meanwhile finds its conversation moved to this thread (`one-key-two-processes-moved`). */
	z.object({ do: z.literal('moved'), to: z.string().uuid() }),
	z.object({
		do: z.literal('run'),
		ms: z.number().optional(),
		/**
		 * `empty` answers with nothing although nothing failed; `overtaken` answers, and ends as if it waited for a person,
		 * as a run may that another one on its thread has overtaken (`one-thread-first-messages-race`).
		 */
		outcome: z.enum(['answer', 'empty', 'fail', 'interrupt', 'overtaken']).optional(),
		/**
		 * So many milliseconds after it was cancelled, what it knew of the thread lands, over what others have written. Measured
		 * with two runs at once, the younger of which was cancelled: 14 of 100 pairs lost a question.
		 */
		lands: z.number().optional(),
		/** What is answered, or asked when it interrupts. */
		text: z.string().optional(),
		/** In which step it was overtaken; in that of its agent by default. */
		step: z.string().optional(),
		error: z.string().optional(),
	}),
]);

/** The rule as it is checked when it comes over HTTP. */
export const faultRuleSchema = z.intersection(match, action);

/** What to do wrong, and for which requests: match fields beside an action, e.g. `{endpoint:'E3', nth:2, do:'drop'}`. */
export type FaultRule = z.input<typeof faultRuleSchema>;

export type Action = z.output<typeof action>;

export type ActionOf<Do extends Action['do']> = Extract<Action, { do: Do }>;

export const actionsOf = <Do extends Action['do']>(
	actions: Action[],
	kind: Do,
): Array<ActionOf<Do>> => actions.filter((one): one is ActionOf<Do> => one.do === kind);

interface Armed {
	rule: z.output<typeof faultRuleSchema>;
	seen: number;
	fired: number;
}

/** The misbehaviour asked for. Rules are asked in the order they were added, and all that match act. */
export class Faults {
	private armed: Armed[] = [];

	private readonly changes = new EventEmitter().setMaxListeners(0);

	add(...rules: FaultRule[]): void {
		for (const input of rules) {
			this.armed.push({ rule: faultRuleSchema.parse(input), seen: 0, fired: 0 });
		}
	}

	/** Removes all rules, and lets go whatever one of them held. */
	clear(): void {
		this.armed = [];
		this.changes.emit('cleared');
	}

	/** Resolves when the rules are cleared, at once where the rule of this action has been cleared already. */
	async cleared(action: Action): Promise<void> {
		if (this.armed.some(({ rule }) => rule === action)) await once(this.changes, 'cleared');
	}

	/** The rules with how many requests they matched and how often they acted. */
	list(): Armed[] {
		return [...this.armed];
	}

	/** What is to go wrong with this request; asking counts it. */
	take(request: { endpoint?: string; method: string; path: string }): Action[] {
		return this.armed.filter((armed) => fires(armed, request)).map(({ rule }) => rule);
	}
}

function fires(armed: Armed, request: { endpoint?: string; method: string; path: string }) {
	const { rule } = armed;
	if (rule.endpoint !== undefined && rule.endpoint !== request.endpoint) return false;
	if (rule.method !== undefined && rule.method.toUpperCase() !== request.method) return false;
	if (rule.path !== undefined && !new RegExp(rule.path).test(request.path)) return false;
	armed.seen += 1;
	if (rule.nth !== undefined && ![rule.nth].flat().includes(armed.seen)) return false;
	if (rule.times !== undefined && armed.fired >= rule.times) return false;
	armed.fired += 1;
	return true;
}
