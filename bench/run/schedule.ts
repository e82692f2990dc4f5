import type { Entry, Plan } from './part';

/** A part that is to be measured. */
export interface Planned {
	name: string;
	plan: Plan;
}

/** One measurement. */
export interface Step {
	part: string;
	entry: Entry;
	/** From 1. */
	round: number;
	rounds: number;
	/** Whether nothing more is measured of the part. */
	isLast: boolean;
}

/**
 * All measurements in their order: round by round through all parts, so that what else the machine does at
 * a time falls on all alike. Every second round goes through the entries of a part backwards.
 */
export function scheduled(parts: Planned[]): Step[] {
	const most = Math.max(0, ...parts.map(({ plan }) => plan.rounds));
	const steps: Array<Omit<Step, 'isLast'>> = [];
	for (let round = 1; round <= most; round += 1) {
		for (const part of parts) {
			const rounds = part.plan.together ? (round === 1 ? allRounds(part.plan) : []) : [round];
			for (const each of rounds) steps.push(...stepsOf(part, each));
		}
	}
	return steps.map((step, index) => ({
		...step,
		isLast: !steps.slice(index + 1).some(({ part }) => part === step.part),
	}));
}

const allRounds = ({ rounds }: Plan): number[] =>
	Array.from({ length: rounds }, (_, index) => index + 1);

function stepsOf({ name, plan }: Planned, round: number): Array<Omit<Step, 'isLast'>> {
	const entries = plan.entries.filter(({ rounds = plan.rounds }) => round <= rounds);
	const ordered = round % 2 === 0 ? entries.reverse() : entries;
	return ordered.map((entry) => ({
		part: name,
		entry,
		round,
		rounds: entry.rounds ?? plan.rounds,
	}));
}

/**
 * How many seconds are left, by what was expected of the rest and how what is done has kept to it.
 *
 * @param done expected and real seconds of what is done
 */
export function secondsLeft(steps: Step[], done: { expected: number; real: number }): number {
	const rest = steps.reduce((sum, { entry }) => sum + entry.seconds, 0);
	const slowness = done.expected > 0 ? done.real / done.expected : 1;
	return rest * slowness;
}
