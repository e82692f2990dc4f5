import { cpus, totalmem } from 'node:os';

import { compact } from 'lodash';

/** One line of the table. */
export interface Row {
	what: string;
	measured: string;
	/** The same by other means, in the same run. */
	beside?: string;
	ratio?: string;
	aim?: string;
	met?: boolean;
}

/** A part of the benchmark, as `--only` names it. */
export interface Part {
	name: string;
	measure: (options: { quick: boolean }) => Promise<Row[]>;
}

interface Bound {
	least?: number;
	most?: number;
}

interface Unit {
	digits?: number;
	unit?: string;
}

/** A number with so many digits behind the point, and commas in front of thousands. */
export const figure = (value: number, digits = 0): string =>
	value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });

export function median(values: number[]): number {
	const sorted = [...values].sort((one, other) => one - other);
	const middle = sorted.length >> 1;
	const upper = sorted[middle] ?? Number.NaN;
	return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** The power with which a cost grows with the size of the work: 1 is linear. */
export const exponent = (sizes: [number, number], costs: [number, number]): number =>
	Math.log(costs[1] / costs[0]) / Math.log(sizes[1] / sizes[0]);

/** A cost of ours, a round each, judged by all rounds. */
export function bounded(what: string, values: number[], bound: Bound, shown: Unit = {}): Row {
	return { what, measured: spread(values, shown), ...judged(values, bound, shown) };
}

/** A cost of ours beside that of something else, round by round: the ratio is judged. */
export function compared(
	what: string,
	ours: number[],
	[name, theirs]: [name: string, values: number[]],
	{ digits, unit, ...bound }: Bound & Unit,
): Row {
	const ratios = ours.map((one, round) => one / (theirs[round] ?? Number.NaN));
	return {
		what,
		measured: spread(ours, { digits, unit }),
		beside: `${name}: ${spread(theirs, { digits, unit })}`,
		ratio: spread(ratios, { digits: 2 }),
		...judged(ratios, bound, {}),
	};
}

/** What a cost of ours adds to that of something else, round by round: the difference is judged. */
export function added(
	what: string,
	ours: number[],
	[name, theirs]: [name: string, values: number[]],
	{ most, ...shown }: { most: number } & Unit,
): Row {
	const differences = ours.map((one, round) => one - (theirs[round] ?? Number.NaN));
	return {
		what,
		measured: spread(differences, shown),
		beside: `${name}: ${spread(theirs, shown)}`,
		...judged(differences, { most }, shown),
	};
}

/** The middle value, and the lowest and the highest of several. */
function spread(values: number[], { digits = 0, unit = '' }: Unit): string {
	const middle = `${figure(median(values), digits)}${unit}`;
	if (values.length === 1) return middle;
	return `${middle} (${figure(Math.min(...values), digits)} to ${figure(Math.max(...values), digits)})`;
}

function judged(values: number[], { least, most }: Bound, { unit = '' }: Unit) {
	const plain = (value: number) => `${value.toLocaleString('en')}${unit}`;
	if (least !== undefined)
		return { aim: `≥ ${plain(least)}`, met: values.every((value) => value >= least) };
	if (most !== undefined)
		return { aim: `≤ ${plain(most)}`, met: values.every((value) => value <= most) };
	return {};
}

/** Rows as a table of Markdown. */
export function tableOf(rows: Row[]): string {
	const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
	const header = ['what', 'measured', 'beside, and the ratio', 'aim'];
	const cells = ({ what, measured, beside, ratio, aim, met }: Row) => [
		what,
		measured,
		compact([beside, ratio]).join('; '),
		compact([aim, met === false && '**not met**']).join(', '),
	];
	return [header, header.map(() => '---'), ...rows.map(cells)].map(line).join('\n');
}

/** The page of a whole run. */
export function pageOf(rows: Row[], minutes: number, n8n: string): string {
	const [processor] = cpus();
	const gigabytes = Math.round(totalmem() / 2 ** 30);
	const met = rows.filter((row) => row.met === true).length;
	const missed = rows.filter((row) => row.met === false).length;
	return `# How fast is it?

<!-- Made by "npm run bench"; the words stand in bench/report.ts. -->

Fast enough that the server sets the pace: [how big it can get](sizes.md). \`npm run bench\` measures all of it, contenders in turns, and writes this page; \`-- --quick\` and \`-- --only questions,sources\` print a table only.

Measured on ${new Date().toISOString().slice(0, 10)} in ${figure(minutes, 1)} minutes on ${cpus().length} processor cores (${processor?.model.trim()}) with ${gigabytes} GB of memory, Node ${process.version}, n8n ${n8n}. Of several rounds the middle one is given, with the lowest and the highest; an aim is met where every round has met it: ${met} are met and ${missed} are not. Documents and records have 1 KB. Where requests go wrong, one in five is answered with 503, breaks, or gets a 504 after storing.

${tableOf(rows)}
`;
}
