import { textOfPdf } from './pdf';

/** Of a scanned page, for instance. What a real server says of it was not recorded; it could not be found either. */
const NO_TEXT = 'The document could not be processed: there is no text in its file';

/** Their libraries take a second to load: most sandboxes are asked for none of them. */
const office = async () => await import('./office');

/** What reads the files that are no texts, by type. A file that is locked or broken makes its reader throw. */
const READERS = new Map<string, (file: Buffer) => Promise<string>>([
	['pdf', textOfPdf],
	['docx', async (file) => await (await office()).textOfWord(file)],
	['pptx', async (file) => await (await office()).textOfSlides(file)],
	['epub', async (file) => await (await office()).textOfBook(file)],
]);

/** The name chooses the reader of workbooks, whatever the type is (`encodings`). */
const WORKBOOK = /\.xlsx$/i;
const ZIP_BEGINNING = 'PK';

/** What reads a file that is no text; it throws where there is no text in it. */
export function readerOf(
	name: string,
	type: string,
): ((file: Buffer) => Promise<string[]>) | undefined {
	if (WORKBOOK.test(name)) return rowsOf;
	const reader = READERS.get(type);
	return reader && (async (file) => requireText([await reader(file)]));
}

/** The rows of a workbook; nothing of a file that is none, whatever it is called (`sheets-as-txt` "broken.xlsx"). */
async function rowsOf(file: Buffer): Promise<string[]> {
	if (file.toString('latin1', 0, ZIP_BEGINNING.length) !== ZIP_BEGINNING) return [];
	return requireText((await office()).rowsOfWorkbook(file));
}

function requireText(texts: string[]): string[] {
	if (texts.join('').trim() === '') throw new Error(NO_TEXT);
	return texts;
}
