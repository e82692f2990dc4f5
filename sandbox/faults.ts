import { EventEmitter, once } from 'node:events';
import { faultRuleSchema, type Action, type Fault, type FaultRule } from './faultRules';

export type { Action, Fault, FaultRule } from './faultRules';

interface Armed {
	rule: Fault;
	seen: number;
	fired: number;
	random: () => number;
}

/** The misbehaviour asked for. Rules are asked in the order they were added, and all that match act. */
export class Faults {
	private armed: Armed[] = [];

	private readonly changes = new EventEmitter().setMaxListeners(0);

	/** Adds rules. */
	add(...rules: FaultRule[]): void {
		for (const input of rules) {
			const rule = faultRuleSchema.parse(input);
			this.armed.push({ rule, seen: 0, fired: 0, random: generator(rule.seed ?? 1) });
		}
	}

	/** Removes all rules, and lets go whatever one of them held. */
	clear(): void {
		this.armed = [];
		this.changes.emit('cleared');
	}

	/** Resolves when the rules are cleared, at once where the rule of this action has been cleared already. */
	async cleared(action: Action): Promise<void> {
		if (this.armed.some((armed) => actionsIn(armed).includes(action)))
			await once(this.changes, 'cleared');
	}

	/** The rules with how many requests they matched and how often they acted. */
	list(): Array<{ rule: Fault; seen: number; fired: number }> {
		return this.armed.map(({ rule, seen, fired }) => ({ rule, seen, fired }));
	}

	/** What is to go wrong with this request; asking counts it. */
	take(request: { endpoint?: string; method: string; path: string }): Action[] {
		return this.armed.filter((armed) => fires(armed, request)).flatMap(actionOf);
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

/** All actions that a rule may take. */
const actionsIn = ({ rule }: Armed): Action[] => (rule.do === 'oneOf' ? rule.actions : [rule]);

/** The rule's action, or one drawn from its several. */
function actionOf({ rule, random }: Armed): Action[] {
	if (rule.do !== 'oneOf') return [rule];
	const drawn = rule.actions[Math.floor(random() * rule.actions.length)];
	return drawn === undefined ? [] : [drawn];
}

/** A seeded linear congruential generator of numbers from 0 to 1. */
function generator(seed: number): () => number {
	let state = (seed >>> 0) + 1;
	return () => {
		state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
		return state / 2 ** 32;
	};
}
