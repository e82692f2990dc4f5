import { z } from 'zod';

function isPattern(text: string): boolean {
	try {
		return new RegExp(text) instanceof RegExp;
	} catch {
		return false;
	}
}

const match = z.object({
	/** Endpoint of the contract, e.g. `E3`. */
	endpoint: z.string().optional(),
	method: z.string().optional(),
	/** Regular expression over the path with its query. */
	path: z.string().refine(isPattern, 'Not a regular expression').optional(),
	/** Which of the matching requests, counted from 1; all when left out. */
	nth: z.union([z.number().int(), z.array(z.number().int())]).optional(),
	/** Chance to act, drawn from a generator seeded with `seed`, so that a test can be repeated. */
	probability: z.number().min(0).max(1).optional(),
	seed: z.number().int().optional(),
	/** How often the rule acts at most. */
	times: z.number().int().optional(),
});

const moment = z.enum(['before', 'after']).default('before');

const action = z.discriminatedUnion('do', [
	z.object({ do: z.literal('delay'), ms: z.number(), when: moment }),
	z.object({
		do: z.literal('status'),
		status: z.number().int(),
		/** Text is sent as it is (as text/plain unless `contentType` says otherwise), anything else as JSON. */
		body: z.unknown(),
		headers: z.record(z.string()).optional(),
		contentType: z.string().optional(),
		when: moment,
	}),
	z.object({
		do: z.literal('drop'),
		/** `during` lets the server work on and cuts the connection after `ms`. */
		when: z.enum(['before', 'during', 'after']).default('before'),
		ms: z.number().default(20),
	}),
	z.object({ do: z.literal('truncate'), bytes: z.number().int().optional() }),
	z.object({ do: z.literal('contentType'), value: z.string() }),
	z.object({ do: z.literal('redirect'), to: z.string(), status: z.number().int().default(307) }),
]);

/** The rule as it is checked when it comes over HTTP. */
export const faultRuleSchema = z.intersection(match, action);

/** What to do wrong, and for which requests: match fields beside an action, e.g. `{endpoint:'E3', nth:2, do:'drop'}`. */
export type FaultRule = z.input<typeof faultRuleSchema>;

/** A rule with its defaults filled in. */
export type Fault = z.output<typeof faultRuleSchema>;

interface Armed {
	rule: Fault;
	seen: number;
	fired: number;
	random: () => number;
}

/** The misbehaviour asked for. Rules are asked in the order they were added, and all that match act. */
export class Faults {
	private armed: Armed[] = [];

	/** Adds rules. */
	add(...rules: FaultRule[]): void {
		for (const input of rules) {
			const rule = faultRuleSchema.parse(input);
			this.armed.push({ rule, seen: 0, fired: 0, random: generator(rule.seed ?? 1) });
		}
	}

	/** Removes all rules. */
	clear(): void {
		this.armed = [];
	}

	/** The rules with how many requests they matched and how often they acted. */
	list(): Array<{ rule: Fault; seen: number; fired: number }> {
		return this.armed.map(({ rule, seen, fired }) => ({ rule, seen, fired }));
	}

	/** What is to go wrong with this request; asking counts it. */
	take(request: { endpoint?: string; method: string; path: string }): Fault[] {
		return this.armed.filter((armed) => fires(armed, request)).map((armed) => armed.rule);
	}
}

function fires(armed: Armed, request: { endpoint?: string; method: string; path: string }) {
	const { rule } = armed;
	if (rule.endpoint !== undefined && rule.endpoint !== request.endpoint) return false;
	if (rule.method !== undefined && rule.method.toUpperCase() !== request.method) return false;
	if (rule.path !== undefined && !new RegExp(rule.path).test(request.path)) return false;
	armed.seen += 1;
	if (rule.nth !== undefined && ![rule.nth].flat().includes(armed.seen)) return false;
	if (rule.probability !== undefined && armed.random() >= rule.probability) return false;
	if (rule.times !== undefined && armed.fired >= rule.times) return false;
	armed.fired += 1;
	return true;
}

/** A seeded linear congruential generator of numbers from 0 to 1. */
function generator(seed: number): () => number {
	let state = (seed >>> 0) + 1;
	return () => {
		state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
		return state / 2 ** 32;
	};
}
