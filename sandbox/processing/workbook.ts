import { read, utils } from '@e965/xlsx';

const ZIP_BEGINNING = 'PK';

/**
 * The rows of all sheets of a workbook, each as JSON text with the headings as keys (`sheets-as-txt`): the first row of a
 * sheet is its headings, an empty row is left out, a date is a number.
 *
 * @returns nothing for a file that is no workbook, whatever it is called
 */
export function rowsOf(file: Buffer): string[] {
	if (file.toString('latin1', 0, ZIP_BEGINNING.length) !== ZIP_BEGINNING) return [];
	const { SheetNames: names, Sheets: sheets } = read(file, { type: 'buffer' });
	return names.flatMap((name) => {
		const sheet = sheets[name];
		const rows = sheet ? utils.sheet_to_json<object>(sheet, { defval: '', blankrows: false }) : [];
		return rows.map((row) => JSON.stringify(row));
	});
}
