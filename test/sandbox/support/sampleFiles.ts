import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { mapValues } from 'lodash';
import ZIPPED from './zipped.json';

const pdf = (name: string) => readFileSync(join(__dirname, `${name}.pdf`));

/**
 * Files with a line of text or two, by their extensions; those that are ZIP files lie here in base64. What the password
 * of `locked.pdf` is checked with is made up, so none fits.
 */
export const SAMPLES: Record<string, Buffer> = {
	...mapValues(ZIPPED, (content) => Buffer.from(content, 'base64')),
	'.pdf': pdf('text'),
};
export const LOCKED = pdf('locked');

/** A file of the recordings of which only name and length were kept: one of that length that the server treats alike. */
export function sampleFile(name: string, bytes = 0): Buffer {
	const like = name === 'broken.pdf' ? undefined : SAMPLES[extname(name)];
	const content = name === 'locked.pdf' ? LOCKED : (like ?? Buffer.from('no text'));
	return Buffer.from(content.toString('latin1').padEnd(bytes, '\n').slice(0, bytes), 'latin1');
}
