import fc from 'fast-check';

import { jsonRecords } from '../../../../../nodes/XpertAi/ingest/jsonRecords';
import type { FileRecord } from '../../../../../nodes/XpertAi/ingest/jsonRecords';

/** Gives bytes in pieces that end at these places. */
export async function* pieces(bytes: Uint8Array, cuts: number[]): AsyncGenerator<Uint8Array> {
	let start = 0;
	for (const cut of [...cuts].sort((one, other) => one - other)) {
		const end = Math.max(start, Math.min(cut, bytes.length));
		yield bytes.subarray(start, end);
		start = end;
	}
	yield bytes.subarray(start);
}

/** The records of a file. */
export async function recordsOf(text: string | Uint8Array, cuts: number[] = []) {
	const bytes = typeof text === 'string' ? Buffer.from(text) : text;
	const records: FileRecord[] = [];
	for await (const record of jsonRecords(pieces(bytes, cuts))) records.push(record);
	return records;
}

/** Records in short: line and value, or line and `bad`. */
export async function read(text: string | Uint8Array, cuts: number[] = []) {
	return (await recordsOf(text, cuts)).map((record) =>
		'flaw' in record ? [record.line, 'bad'] : [record.line, record.value],
	);
}

/** Text full of what could mislead a reader of JSON. */
const tricky = fc.oneof(
	fc.string({ unit: 'grapheme', maxLength: 12 }),
	fc.string({ unit: 'binary', maxLength: 6 }),
	fc.constantFrom(
		'[',
		']',
		'{',
		'}',
		',',
		'"',
		'\\',
		'\\"',
		'\n',
		'\r\n',
		'\u2028',
		'😀',
		'}],[{"',
	),
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
