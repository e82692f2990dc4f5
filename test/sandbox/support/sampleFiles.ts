import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** `text.pdf` has one line of text; what the password of `locked.pdf` is checked with is made up, so none fits. */
const pdf = (name: string) => readFileSync(join(__dirname, `${name}.pdf`), 'latin1');

/** A file of the recordings of which only name and length were kept: one of that length that the server treats alike. */
export function sampleFile(name: string, bytes = 0): Buffer {
	const isPdf = name.endsWith('.pdf') && name !== 'broken.pdf';
	const content = name === 'locked.pdf' ? pdf('locked') : isPdf ? pdf('text') : 'no text at all';
	return Buffer.from(content.padEnd(bytes, '\n').slice(0, bytes));
}
