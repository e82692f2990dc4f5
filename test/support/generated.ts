import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { projectRoot } from '../../host/paths';

/** Whether `npm run generate` runs the tests, which then write what is made from something else. */
export const GENERATES = process.env.GENERATE === '1';

/**
 * Holds a file to the text it is made to be, to the byte; `npm run generate` writes it. How JSON is laid out is not
 * compared, as Prettier has its say, which `npm run lint` asks; the order of its keys is.
 *
 * @param file its full path
 */
export function expectGenerated(file: string, text: string): void {
	const laidOut = (one: string) => (file.endsWith('.json') ? jsonText(JSON.parse(one)) : one);
	const heldIn = (place: string) => (existsSync(place) ? laidOut(readFileSync(place, 'utf8')) : '');
	const stale = placesOf(file).filter((place) => heldIn(place) !== laidOut(text));
	if (GENERATES) for (const place of stale) write(place, text);
	const [held, made] = [heldIn(file), laidOut(text)];
	const advice = held === made ? '' : `npm run generate writes ${path.basename(file)} anew`;
	expect({ advice, held }).toEqual({ advice: '', held: made });
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
