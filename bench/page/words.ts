import { median } from '../run/figures';
import type { Aim, Section } from '../run/part';

/** A number with so many digits behind the point, and commas in front of thousands. */
export const figure = (value: number, digits = 0): string =>
	value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });

/** The middle of some values, and from where to where they go. */
export function withSpread(values: number[], digits = 2, unit = ''): string {
	if (values.length === 0 || values.some(Number.isNaN)) return 'not measured';
	const middle = `${figure(median(values), digits)}${unit}`;
	if (values.length === 1) return middle;
	return `${middle} (${figure(Math.min(...values), digits)} to ${figure(Math.max(...values), digits)})`;
}

/** Bytes as megabytes. */
export const megabytes = (bytes: number): string =>
	Number.isNaN(bytes) ? 'not measured' : `${figure(bytes / 1024 / 1024)} MB`;

/** A table of Markdown. */
export function table(header: string[], rows: string[][]): string {
	const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
	return [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n');
}

type AimWords = Pick<Aim, 'what' | 'against' | 'aim'>;

/** An aim judged by all of its rounds: it is met where each of them has met it. */
export function judged(
	words: AimWords | undefined,
	values: number[],
	isMet: (value: number) => boolean,
	{ digits = 2, unit = '' }: { digits?: number; unit?: string } = {},
): Aim {
	if (words === undefined) throw new Error('A part judges more aims than it has');
	const measured = withSpread(values, digits, unit);
	if (values.length === 0 || values.some(Number.isNaN)) return { ...words, measured };
	const rounds = values.length === 1 ? 'one round' : `${values.length} rounds`;
	return { ...words, measured: `${measured} in ${rounds}`, met: values.every(isMet) };
}

/** What stands for a part without figures. */
export function notMeasured(aims: AimWords[], reason: string): Section {
	return {
		aims: aims.map((aim) => ({ ...aim, measured: 'not measured' })),
		text: `Not measured: ${reason}.`,
	};
}
