import { cpus } from 'node:os';

import { compact } from 'lodash';
import { z } from 'zod';

/** One line of the table. */
export const rowSchema = z.object({
	what: z.string(),
	/** What it is compared with, measured in the same run. A count may stand alone. */
	beside: z.string().optional(),
	/** A ratio or a count. */
	measured: z.string(),
	bound: z.string().optional(),
	met: z.boolean().optional(),
});

export type Row = z.infer<typeof rowSchema>;

export interface PartOptions {
	/** Whether to measure next to nothing, to try the benchmark itself. */
	quick: boolean;
	/** Whether the largest sources have a million records. */
	million: boolean;
}

/** A part of the benchmark, as `--only` names it. */
export interface Part {
	name: string;
	measure: (options: PartOptions) => Promise<Row[]>;
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

/** Counts, each of which has to keep the bound. */
export function bounded(
	what: string,
	counts: number[],
	bound: Bound,
	{ beside, ...unit }: Unit & Pick<Row, 'beside'> = {},
): Row {
	return { what, beside, measured: spread(counts, unit), ...judged(counts, bound, unit) };
}

/** A cost beside that of something else, round by round. The middle of the ratios has to keep the bound. */
export function compared(
	what: string,
	ours: number[],
	[beside, theirs]: [name: string, values: number[]],
	bound: Bound,
): Row {
	const ratios = ours.map((one, round) => one / (theirs[round] ?? Number.NaN));
	const measured = spread(ratios, { digits: 2 });
	return { what, beside, measured, ...judged([median(ratios)], bound) };
}

/** The middle value, and the lowest and the highest of several. */
function spread(values: number[], { digits = 0, unit = '' }: Unit): string {
	const middle = `${figure(median(values), digits)}${unit}`;
	const [lowest, highest] = [Math.min(...values), Math.max(...values)];
	if (lowest === highest) return middle;
	return `${middle} (${figure(lowest, digits)} to ${figure(highest, digits)})`;
}

function judged(values: number[], { least, most }: Bound, { unit = '' }: Unit = {}) {
	const plain = (value: number) => `${value.toLocaleString('en')}${unit}`;
	if (least !== undefined)
		return { bound: `≥ ${plain(least)}`, met: values.every((value) => value >= least) };
	if (most !== undefined)
		return { bound: `≤ ${plain(most)}`, met: values.every((value) => value <= most) };
	return {};
}

/** Rows as a table of Markdown. */
export function tableOf(rows: Row[]): string {
	const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
	const header = ['what', 'compared with', 'ratio or count', 'bound'];
	const cells = ({ what, beside = '', measured, bound, met }: Row) => [
		what,
		beside,
		measured,
		compact([bound, met === false && '**not met**']).join(', '),
	];
	return [header, header.map(() => '---'), ...rows.map(cells)].map(line).join('\n');
}

/** The page of a whole run. */
export function pageOf(rows: Row[], n8n: string): string {
	const met = rows.filter((row) => row.met === true).length;
	const missed = rows.filter((row) => row.met === false).length;
	return `# How fast is it?

<!-- Made by "npm run bench"; the words stand in bench/report.ts. -->

Fast enough that the server sets the pace: [how big it can get](sizes.md). \`npm run bench\` measures all of it and writes this page. \`-- --only questions,sources\` measures these parts anew. \`-- --quick\` tries it out and writes nothing. Where the table says 200,000 records, \`-- --only heap --million\` takes a million, and five times as long.

A time depends on the machine, so none stands here: each line is a count, or a ratio of two things that were measured in the same run, in turns. A ratio of 0.5 means half of what the second column names: half the time, or half as many. Only a line that begins with _speed_ is the better the higher it is. Of several rounds the middle one is given, with the lowest and the highest. The middle ratio has to keep the bound; counts have to keep it all. ${met} bounds are kept and ${missed} are not.

_Processor time_ is that of n8n's process alone, without the server's. Documents and records have 1 KB if nothing else is said. Where requests go wrong, one in five is answered with 503, breaks, or gets a 504 after storing.

Measured on ${new Date().toISOString().slice(0, 10)} with ${cpus().length} processor cores, Node ${process.version}, n8n ${n8n}.

${tableOf(rows)}
`;
}
