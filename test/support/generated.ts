import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { projectRoot } from '../../host/paths';

/** Whether `npm run generate` runs the tests, which then write what is made from something else. */
export const GENERATES = process.env.GENERATE === '1';

/** Says what to do, beside what differs. */
const STALE = 'is stale: npm run generate writes it anew';

/**
 * Holds a file to the text it is made to be; `npm run generate` writes it. How JSON is laid out does not
 * matter, as Prettier has its say.
 *
 * @param file its full path
 */
export function expectGenerated(file: string, text: string): void {
	if (GENERATES) for (const place of placesOf(file)) write(place, text);
	const held = readFileSync(file, 'utf8');
	const name = path.basename(file);
	const isJson = file.endsWith('.json');
	const content = (one: string): unknown => (isJson ? JSON.parse(one) : one);
	expect({ [`${name} ${STALE}`]: content(held) }).toEqual({ [`${name} ${STALE}`]: content(text) });
}

/** What is shipped stands in the build as well, which the tests behind this one hold against its sources. */
function placesOf(file: string): string[] {
	const inside = path.relative(projectRoot, file);
	return inside.startsWith('nodes') ? [file, path.join(projectRoot, 'dist', inside)] : [file];
}

function write(file: string, text: string): void {
	mkdirSync(path.dirname(file), { recursive: true });
	writeFileSync(file, text);
}

/** JSON as files hold it. */
export const jsonText = (value: unknown): string => `${JSON.stringify(value, undefined, '\t')}\n`;

/** A text with the part between `<!-- name -->` and `<!-- /name -->` made anew. */
export function withPart(text: string, name: string, part: string): string {
	const [start, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
	const [from, to] = [text.indexOf(start), text.indexOf(end)];
	if (from < 0 || to < from) throw new Error(`there is no part ${start} … ${end}`);
	return `${text.slice(0, from + start.length)}\n\n${part}\n\n${text.slice(to)}`;
}

/** A table with aligned columns, as Prettier lays it out. */
export function markdownTable(head: string[], rows: string[][]): string {
	const widths = head.map((_, column) =>
		Math.max(...[head, ...rows].map((cells) => (cells[column] ?? '').length)),
	);
	const line = (cells: string[]) =>
		`| ${cells.map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - cell.length)).join(' | ')} |`;
	return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}
