import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { times } from 'lodash';
import ts from 'typescript';

import { projectRoot } from 'host/paths';

/** A regular expression of the node, and where it stands. */
interface Found {
	place: string;
	text: string;
}

/** Every regular expression that the shipped code holds. */
function expressionsIn(file: string): Found[] {
	const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest);
	const found: Found[] = [];
	const visit = (node: ts.Node): void => {
		if (ts.isRegularExpressionLiteral(node)) {
			found.push({ place: path.relative(projectRoot, file), text: node.text });
		}
		ts.forEachChild(node, visit);
	};
	visit(source);
	return found;
}

const FILES = ['nodes', 'credentials'].flatMap((folder) =>
	readdirSync(path.join(projectRoot, folder), { recursive: true })
		.map(String)
		.filter((file) => file.endsWith('.ts'))
		.map((file) => path.join(projectRoot, folder, file)),
);
const FOUND = FILES.flatMap(expressionsIn);

const LENGTH = 20_000;

/** What is done sooner is not measured, as the machine's own pauses are as long. */
const LEAST_MS = 5;

/** A text of four times the length takes four times as long; where its square counts, sixteen times. */
const MOST_GROWTH = 9;

/** Pieces that an expression may stumble over when they come again and again: its own letters, and such as any has. */
function piecesOf(text: string): string[] {
	const letters = text
		.slice(1, text.lastIndexOf('/'))
		.replace(/\\([\\/.?[\](){}*+|^$])/g, '$1')
		.split(/\\[a-z]|[\\^$*+?()[\]{}|]/i)
		.filter((piece) => piece !== '');
	return [...new Set([...letters, ...letters.map((piece) => piece[0] ?? ''), ...' a0/<'])];
}

/** Long texts of these pieces: one over and over, or one that another follows over and over. */
function longTexts(pieces: string[], length: number): string[] {
	const many = (piece: string) => piece.repeat(Math.ceil(length / piece.length));
	return pieces.flatMap((first) => [
		`${many(first)}\0`,
		...pieces.map((next) => `${first}${many(next)}\0`),
	]);
}

/** The processor time to find all that the expression finds, in milliseconds; the best of ten. */
function timeOf(expression: RegExp, text: string): number {
	let best = Infinity;
	for (let tries = 0; tries < 10 && best > LEAST_MS; tries++) {
		const started = process.cpuUsage();
		text.replace(expression, '');
		best = Math.min(best, process.cpuUsage(started).user / 1000);
	}
	return best;
}

/** How often it has to be seen: the machine may have been busy once. */
const TIMES_SEEN = 3;

/** The start of a text that an expression takes too long for, if there is one. */
function slowText(text: string): string | undefined {
	const end = text.lastIndexOf('/');
	const flags = new Set([...text.slice(end + 1), 'g']);
	const expression = new RegExp(text.slice(1, end), [...flags].join(''));
	const pieces = piecesOf(text);
	const short = longTexts(pieces, LENGTH / 4);
	return longTexts(pieces, LENGTH)
		.find((long, index) => {
			const isSlow = () => {
				const taken = timeOf(expression, long);
				return taken > LEAST_MS && taken > MOST_GROWTH * timeOf(expression, short[index] ?? '');
			};
			return times(TIMES_SEEN).every(isSlow);
		})
		?.slice(0, 40);
}

describe('the regular expressions of the node', () => {
	it('are found', () => {
		expect(FOUND.length).toBeGreaterThan(50);
	});

	// One error page must not keep all of n8n waiting (24 s for 200 KB, once).
	it.each(FOUND)('takes time in proportion to the text: $text in $place', ({ text }) => {
		expect(slowText(text)).toBeUndefined();
	});
});
