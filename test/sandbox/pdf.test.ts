import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { markdownOf, textOfPdf, type Drawn } from '../../sandbox/processing/pdf';

const WARRANTY = join(__dirname, '../../examples/documents/service/warranty.pdf');

/** A line as a page draws it. */
const line = (text: string, y: number, height = 11): Drawn => ({ text, y, height, ends: true });

describe('the text of a PDF that a browser printed', () => {
	it('has a line for each paragraph and headings like Markdown, also from later pages', async () => {
		const text = await textOfPdf(readFileSync(WARRANTY));
		const lines = text.split('\n\n');
		expect(lines[0]).toBe('# Warranty and returns');
		expect(lines[2]).toBe('# How long the warranty lasts');
		expect(lines[3]).toMatch(
			/^The warranty for the .* delivered to you\. The heater .* given away\.$/,
		);
		expect(lines).toContain('# How you get your money back');
		expect(text).not.toMatch(/ {2}|\S\n\S/);
	});

	it('is not there when it is no PDF', async () => {
		await expect(textOfPdf(Buffer.from('hello'))).rejects.toThrow(/^Invalid PDF structure$/);
	});
});

describe('what a page draws', () => {
	it('is one paragraph as long as the lines stand close', () => {
		const drawn = [line('One', 100), line('goes on.', 84), line('Two.', 50)];
		expect(markdownOf(drawn)).toBe('One goes on.\n\nTwo.');
	});

	it('goes on over the end of a page in the middle of a sentence only', () => {
		const drawn = [line('It ends', 20), line('there.', 800), line('It is over.', 20)];
		expect(markdownOf([...drawn, line('New page.', 800)])).toBe(
			'It ends there.\n\nIt is over.\n\nNew page.',
		);
	});

	it('is a heading in larger letters, beginning with a piece without height or not', () => {
		const drawn = [
			line('Title', 100, 20),
			line('', 80, 0),
			{ ...line('Much ', 80), ends: false },
			line('more text.', 80),
		];
		expect(markdownOf(drawn)).toBe('# Title\n\nMuch more text.');
	});

	it('is nothing on an empty page', () => {
		expect(markdownOf([line('', 0, 0)])).toBe('');
	});
});
