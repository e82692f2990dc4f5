import { read, utils } from '@e965/xlsx';
import { convert, type HtmlToTextOptions } from 'html-to-text';
import JSZip from 'jszip';
import { unescape } from 'lodash';
import { extractRawText } from 'mammoth';

export const textOfWord = async (buffer: Buffer) => (await extractRawText({ buffer })).value;

/** Slides, and what the speaker notes on them. */
const SLIDE = /^ppt\/(?:slides\/slide|notesSlides\/notesSlide)\d+\.xml$/;
const CHAPTER = /\.x?html?$/i;

/** A paragraph is an `a:p`, which holds its pieces of text in `a:t`. */
export async function textOfSlides(file: Buffer): Promise<string> {
	const slides = await entriesOf(file, SLIDE);
	if (slides.length === 0) throw new Error('The file has no slides');
	const paragraphs = slides.flatMap((slide) => slide.split('</a:p>'));
	return paragraphs.map(textOfParagraph).filter(Boolean).join('\n\n');
}

const PIECE = /<a:t(?:\s[^>]*)?>([^<]*)<\/a:t>|<a:br\b/g;

const textOfParagraph = (xml: string): string =>
	unescape([...xml.matchAll(PIECE)].map(([, text = ' ']) => text).join('')).trim();

/** Neither where links lead, nor what images are called; lines are as long as they are. */
const BARE: HtmlToTextOptions = {
	wordwrap: false,
	selectors: [
		{ selector: 'a', options: { ignoreHref: true } },
		{ selector: 'img', format: 'skip' },
	],
};

/** The chapters in the order of their names, headings in capitals (`encodings` "book.epub"). */
export async function textOfBook(file: Buffer): Promise<string> {
	const chapters = await entriesOf(file, CHAPTER);
	return chapters.map((html) => convert(html, BARE)).join('\n\n');
}

/** The texts of the entries of a ZIP file whose names match, `slide2` before `slide10`. */
async function entriesOf(file: Buffer, names: RegExp): Promise<string[]> {
	const found = (await JSZip.loadAsync(file)).file(names);
	const { compare } = new Intl.Collator('en', { numeric: true });
	found.sort((one, other) => compare(one.name, other.name));
	return await Promise.all(found.map(async (entry) => await entry.async('string')));
}

/**
 * The rows of all sheets of a workbook, each as JSON text with the headings as keys (`sheets-as-txt`): the first row of a
 * sheet is its headings, an empty row is left out, a date is a number.
 */
export function rowsOfWorkbook(file: Buffer): string[] {
	const { SheetNames: names, Sheets: sheets } = read(file, { type: 'buffer' });
	return names.flatMap((name) => {
		const sheet = sheets[name];
		const rows = sheet ? utils.sheet_to_json<object>(sheet, { defval: '', blankrows: false }) : [];
		return rows.map((row) => JSON.stringify(row));
	});
}
