/** A table with aligned columns, as prettier lays it out. */
export function markdownTable(head: string[], rows: string[][]): string {
	const widths = head.map((_, column) =>
		Math.max(...[head, ...rows].map((cells) => cells[column]?.length ?? 0)),
	);
	const line = (cells: string[]) =>
		`| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
	return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}
