import fc from 'fast-check';

import { jsonRecords, type FileRecord } from '../../../../../nodes/XpertAi/ingest/jsonRecords';

export async function* pieces(text: string, cuts: number[]): AsyncGenerator<string> {
	let start = 0;
	for (const cut of [...cuts].sort((one, other) => one - other)) {
		const end = Math.max(start, Math.min(cut, text.length));
		yield text.slice(start, end);
		start = end;
	}
	yield text.slice(start);
}

export async function recordsOf(text: string, cuts: number[] = []) {
	const records: FileRecord[] = [];
	for await (const record of jsonRecords(pieces(text, cuts))) records.push(record);
	return records;
}

/** Records in short: position and value, or position and `bad`. Of `Line 3 of the file`, the position is 3. */
export async function read(text: string, cuts: number[] = []) {
	return (await recordsOf(text, cuts)).map((record) => {
		const [, number] = /^Line (\d+) of the file$/.exec(record.position) ?? [];
		const position = number === undefined ? record.position : Number(number);
		return [position, 'flaw' in record ? 'bad' : record.value];
	});
}

/** Text full of what could mislead a reader of JSON. */
const tricky = fc.oneof(
	fc.string({ unit: 'grapheme', maxLength: 12 }),
	fc.string({ unit: 'binary', maxLength: 6 }),
	fc.constantFrom(...'[]{},"\\\n', '\\"', '\r\n', '\u2028', '😀', '}],[{"'),
);

/** JSON values whose texts and keys hold brackets, quotes, line breaks and characters of many bytes. */
export const jsonValues = fc.letrec<{ value: unknown; record: Record<string, unknown> }>((tie) => ({
	record: fc.dictionary(tricky, tie('value'), { maxKeys: 4, noNullPrototype: true }),
	value: fc.oneof(
		{ maxDepth: 3, withCrossShrink: true },
		tricky,
		fc.constantFrom(null, true, false, 0, -1.5e-7, 1e21, '', [], {}),
		fc.integer(),
		fc.array(tie('value'), { maxLength: 4 }),
		tie('record'),
	),
}));
