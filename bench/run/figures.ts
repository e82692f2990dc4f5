import type { Figures, PartResults } from './part';

/** One number of an entry, a round each. */
export function numbers({ entries }: PartResults, entry: string, figure: string): number[] {
	return (entries[entry] ?? []).map((figures) => numberIn(figures, figure));
}

/** A number of some figures. */
export function numberIn(figures: Figures, figure: string): number {
	const value = figures[figure];
	return typeof value === 'number' ? value : Number.NaN;
}

/** Two rows of numbers taken round by round, as far as both go. */
export function byRound(
	ones: number[],
	others: number[],
	combine: (one: number, other: number) => number,
): number[] {
	return ones
		.slice(0, others.length)
		.map((one, round) => combine(one, others[round] ?? Number.NaN));
}

/** How many times as much, round by round. */
export const ratios = (ones: number[], others: number[]): number[] =>
	byRound(ones, others, (one, other) => one / other);

/** The middle value. */
export function median(values: number[]): number {
	const sorted = [...values].sort((one, other) => one - other);
	const middle = sorted.length >> 1;
	const upper = sorted[middle] ?? Number.NaN;
	return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** With which power the second of two values has grown over the first, as its size has. */
export const exponent = (
	[smaller, larger]: [number, number],
	[first, last]: [number, number],
): number => Math.log(last / first) / Math.log(larger / smaller);
