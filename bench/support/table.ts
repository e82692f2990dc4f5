/** Rows as text, columns aligned; the first column to the left, all others to the right. */
export function table(header: string[], rows: string[][]): string {
	const all = [header, ...rows];
	const widths = header.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
	const line = (row: string[]) =>
		row
			.map((cell, column) =>
				column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
			)
			.join('  ');
	const rule = widths.map((width) => '-'.repeat(width)).join('  ');
	return [line(header), rule, ...rows.map(line)].join('\n');
}

/** Bytes as whole megabytes. */
export function megabytes(bytes: number): string {
	return `${Math.round(bytes / 1024 / 1024)} MB`;
}

/** The middle value. */
export function median(values: number[]): number {
	const sorted = [...values].sort((one, other) => one - other);
	const middle = sorted.length >> 1;
	const upper = sorted[middle] ?? Number.NaN;
	return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** A chart of bars over time, each the highest value in its share of the time; scaled from zero. */
export function chart(values: number[], highest: number, columns: number): string {
	const share = values.length / Math.min(columns, values.length);
	return Array.from({ length: Math.min(columns, values.length) }, (_, column) => {
		const part = values.slice(Math.floor(column * share), Math.ceil((column + 1) * share));
		const level = Math.round((Math.max(...part) / highest) * (BARS.length - 1));
		return BARS.charAt(level);
	}).join('');
}

const BARS = ' ▁▂▃▄▅▆▇█';
