import { Worker } from 'node:worker_threads';
import { countBy, maxBy, sumBy } from 'lodash';

export interface Drawn {
	text: string;
	/** How tall its letters are; 0 for an empty piece. */
	height: number;
	y: number;
	ends: boolean;
}

/** What the reader sends back: what is drawn, or why it cannot be read. */
interface Read {
	drawn?: Drawn[];
	message?: string;
}

interface Line {
	text: string;
	height: number;
	y: number;
}

/** What the server says of a PDF without a byte; the library has other words for it. */
const EMPTY = 'Invalid PDF structure';

/** Lines further apart than so many times the height of their letters are of different paragraphs. */
const PARAGRAPH_GAP = 2;

/**
 * The reader runs in a thread of its own: while its library is loaded it prints advice to the console, which a
 * thread keeps to itself, and however large a file is, the server goes on answering.
 */
const READER = `
const { parentPort, workerData } = require('node:worker_threads');
const { getDocumentProxy } = require(workerData.library);
(async () => {
	const pdf = await getDocumentProxy(workerData.bytes, { verbosity: 0 });
	const drawn = [];
	for (let number = 1; number <= pdf.numPages; number += 1) {
		const page = await pdf.getPage(number);
		const { items } = await page.getTextContent();
		for (const { str, height, transform, hasEOL } of items) {
			if (str !== undefined) drawn.push({ text: str, height, y: transform[5], ends: hasEOL });
		}
		drawn.push({ text: '', height: 0, y: 0, ends: true });
		page.cleanup();
	}
	return { drawn };
})()
	.catch(({ message }) => ({ message }))
	.then((result) => parentPort.postMessage(result));
`;

/**
 * The text of a PDF as Markdown: a paragraph is a line, a line in large letters a heading.
 *
 * @throws Error with what the real server says of a file it cannot read (`files-processed` "status at the end")
 */
export async function textOfPdf(bytes: Buffer): Promise<string> {
	return markdownOf(await drawnIn(bytes));
}

async function drawnIn(bytes: Buffer): Promise<Drawn[]> {
	const reader = new Worker(READER, {
		eval: true,
		stdout: true,
		stderr: true,
		workerData: { library: require.resolve('unpdf'), bytes: new Uint8Array(bytes) },
	});
	try {
		const { drawn, message } = await new Promise<Read>((resolve, reject) => {
			reader.once('message', resolve);
			reader.once('error', reject);
			reader.once('exit', (code) =>
				reject(new Error(`The reader of PDF files ended with ${code}.`)),
			);
		});
		if (drawn === undefined)
			throw new Error(bytes.length > 0 ? message?.replace(/\.$/, '') : EMPTY);
		return drawn;
	} finally {
		await reader.terminate();
	}
}

/** Puts what is drawn together to paragraphs and headings, also over the end of a page. */
export function markdownOf(drawn: Drawn[]): string {
	const lines = linesOf(drawn);
	const usual = usualHeight(lines);
	const paragraphs: string[] = [];
	lines.forEach((line, place) => {
		const before = lines[place - 1];
		if (before && goesOn(before, line)) {
			paragraphs.push(`${paragraphs.pop() ?? ''} ${line.text}`);
		} else {
			paragraphs.push(line.height > usual ? `# ${line.text}` : line.text);
		}
	});
	return paragraphs.join('\n\n');
}

function linesOf(drawn: Drawn[]): Line[] {
	const lines: Line[] = [];
	let open: Drawn[] = [];
	for (const piece of drawn) {
		open.push(piece);
		if (!piece.ends) continue;
		const [first] = open.filter(({ height }) => height > 0);
		const text = open
			.map((one) => one.text)
			.join('')
			.replace(/\s+/g, ' ')
			.trim();
		// Two shades of one size are the same size.
		if (first && text !== '')
			lines.push({ text, height: Math.round(first.height * 2), y: first.y });
		open = [];
	}
	return lines;
}

function usualHeight(lines: Line[]): number {
	const heights = Object.keys(countBy(lines, 'height')).map(Number);
	const lettersIn = (height: number) =>
		sumBy(lines, (line) => (line.height === height ? line.text.length : 0));
	return maxBy(heights, lettersIn) ?? 0;
}

/** A paragraph goes on in the next line, and on the next page if its sentence is not at its end. */
function goesOn(before: Line, line: Line): boolean {
	if (before.height !== line.height) return false;
	const gap = before.y - line.y;
	if (gap < 0) return !/[.?!:]$/.test(before.text);
	return gap < PARAGRAPH_GAP * (line.height / 2);
}
