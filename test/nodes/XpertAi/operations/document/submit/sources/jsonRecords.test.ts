import fc from 'fast-check';
import { sum } from 'lodash';
import {
	type FileRecord,
	jsonRecords,
} from 'nodes/XpertAi/operations/document/submit/sources/jsonRecords';

const MB = 2 ** 20;

async function* pieces(text: string, cuts: number[]): AsyncGenerator<string> {
	let start = 0;
	for (const cut of [...cuts].sort((one, other) => one - other)) {
		const end = Math.max(start, Math.min(cut, text.length));
		yield text.slice(start, end);
		start = end;
	}
	yield text.slice(start);
}

async function recordsOf(text: string, cuts: number[] = []) {
	const records: FileRecord[] = [];
	for await (const group of jsonRecords(pieces(text, cuts))) records.push(...group);
	return records;
}

/** Records in short: position and value, or position and `bad`. Of `Line 3 of the file`, the position is 3. */
async function read(text: string, cuts: number[] = []) {
	return (await recordsOf(text, cuts)).map((record) => {
		const [, number] = /^Line (\d+) of the file$/.exec(record.positionText) ?? [];
		const position = number === undefined ? record.positionText : Number(number);
		return [position, 'issue' in record ? 'bad' : record.value];
	});
}

/** Text full of what could mislead a reader of JSON. */
const tricky = fc.oneof(
	fc.string({ unit: 'grapheme', maxLength: 12 }),
	fc.string({ unit: 'binary', maxLength: 6 }),
	fc.constantFrom(...'[]{},"\\\n', '\\"', '\r\n', '\u2028', '😀', '}],[{"'),
);

/** JSON values whose texts and keys hold brackets, quotes, line breaks and characters of many bytes. */
const jsonValues = fc.letrec<{ value: unknown; record: Record<string, unknown> }>((tie) => ({
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

const { value: anyValue, record: anyRecord } = jsonValues;
const cuts = fc.array(fc.nat({ max: 600 }), { maxLength: 30 });
/** As JSON gives it back: without keys such as `__proto__` losing their value, and -0 as 0. */
const asJson = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown;
const blank = fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\r\n'), maxLength: 4 });
const lineBreaks = (text: string) => text.split('\n').length - 1;
const positionsOf = async (text: string) =>
	(await recordsOf(text)).map(({ positionText }) => positionText);

describe('a file with one record a line', () => {
	it('gives every value with its line number, however the text is chunked', async () => {
		const lines = fc.array(
			fc.record({
				value: fc.oneof(anyRecord, anyValue),
				blankBefore: fc.array(fc.constantFrom('', ' ', '\t'), { maxLength: 2 }),
				end: fc.constantFrom('\n', '\r\n', ' \n'),
			}),
		);
		await fc.assert(
			fc.asyncProperty(
				blank,
				anyRecord,
				lines,
				fc.boolean(),
				cuts,
				async (before, first, rest, ends, at) => {
					let text = `${before}${JSON.stringify(first)}\n`;
					const expected: unknown[] = [[lineBreaks(before) + 1, asJson(first)]];
					for (const { value, blankBefore, end } of rest) {
						text += blankBefore.map((line) => `${line}\n`).join('');
						expected.push([lineBreaks(text) + 1, asJson(value)]);
						text += JSON.stringify(value) + end;
					}
					expect(await read(ends ? text : text.trimEnd(), at)).toEqual(expected);
				},
			),
		);
	});

	it.each([
		[
			'several kinds of them',
			[1, -2, -3, -4, 6],
			'{"a":1}\nnot json\n{"a":2\n{"a":3}}\n\n{"a":4}\n',
		],
		['an object that begins and does not end', [-1, 2, -3], '{"a":\n{"a":2}\noops\n'],
		['an end that is cut off', [1, -2], '{"a":1}\n{"a":'],
	])('reports each line that does not parse, and continues behind %s', async (_, lines, text) => {
		const expected = lines.map((line) => ({
			positionText: `Line ${Math.abs(line)} of the file`,
			...(line < 0 ? { issue: 'is not valid JSON' } : { value: expect.anything() as unknown }),
		}));
		expect(await recordsOf(text)).toEqual(expected);
	});

	it('may be of more than 32 MB although its first line is broken', async () => {
		const text = `{"a":\n${`{"a":"${'x'.repeat(MB)}"}\n`.repeat(34)}`;
		const records = await recordsOf(text, [1, MB, 5 * MB, 32 * MB]);
		expect(records).toHaveLength(35);
		expect(records[0]).toEqual({ positionText: 'Line 1 of the file', issue: 'is not valid JSON' });
		expect(records.slice(1).every((record) => 'value' in record)).toBe(true);
	});

	it('ends at a line of more than 32 MB, which is a flaw', async () => {
		const text = `{"a":1}\n{"a":2}\n{"a":"${'x'.repeat(33 * MB)}"}\n{"a":4}\n`;
		const records = await recordsOf(text, [MB, 20 * MB, 33 * MB]);
		expect(records.slice(2)).toEqual([
			{
				positionText: 'Line 3 of the file',
				issue: 'is longer than 32 MB, so nothing after it was read',
			},
		]);
	});
});

describe('a file that is one JSON value', () => {
	it('is the records of an array in order, or one object, however it is written and chunked', async () => {
		const space = fc.constantFrom(undefined, 2, '\t');
		const values = fc.oneof(fc.array(anyValue), anyRecord);
		await fc.assert(
			fc.asyncProperty(values, blank, space, cuts, async (value, around, indent, at) => {
				const text = `${around}${JSON.stringify(value, null, indent)}${around}`;
				const positionText = `Line ${lineBreaks(around) + 1} of the file`;
				expect(await recordsOf(text, at)).toEqual(
					Array.isArray(value)
						? value.map((one, index) => ({
								positionText: `Record ${index + 1} of the file`,
								value: asJson(one),
							}))
						: [{ positionText, value: asJson(value) }],
				);
			}),
		);
	});

	it.each([
		['an array that is not closed', '[{"a":1},\n{"a":2}'],
		['an array with a bad element', '[\n  {"a":1},\n  {"a":oops},\n  {"a":4}\n]\n'],
		['an array with something behind it', '[{"a":1}]\n{"a":2}\n'],
		['an object that is not closed', '{\n"documents": [\n{"a":1},\n{"a":2},\n{"a":3}\n]\n'],
		['a table', 'name,price\nQuokka,10\nNumbat,20\n'],
		['a page', '<html>\n<body>\n</body>\n</html>'],
		['numbers', '1\n2\n3\n4\n'],
		['a word', 'oops'],
		[
			'lines, of which the first 400 are tried, as each error takes time',
			`${'{ x }\n'.repeat(400)}${'{}\n'.repeat(400)}`,
		],
	])('and is not valid is one flaw: %s', async (_, text) => {
		expect(await recordsOf(text)).toEqual([
			{
				positionText: 'The file',
				issue: expect.stringMatching(
					/^is neither JSON lines nor one JSON array or object \(.+\)$/s,
				) as string,
			},
		]);
	});

	it.each([
		['an array in lines', `[\n${`{"a":"${'x'.repeat(MB)}"},\n`.repeat(33)}{}]`],
		['an array in one line', `[${`{"a":"${'x'.repeat(MB)}"},`.repeat(33)}{}]`],
		['an object in lines', `{\n"list": [\n${`{"a":"${'x'.repeat(MB)}"},\n`.repeat(33)}{}]}`],
		['lines of no kind', `${'x'.repeat(MB)}\n`.repeat(33)],
	])('of more than 32 MB is refused with advice: %s', async (_, text) => {
		expect(await recordsOf(text, [1, MB, 5 * MB, 32 * MB])).toEqual([
			{
				positionText: 'The file',
				issue: expect.stringContaining('Write it as JSON lines') as string,
			},
		]);
	});
});

describe('whole numbers that JavaScript would round', () => {
	const integer = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n });

	it('become text with all their digits, wherever they are; all else is parsed as JSON', async () => {
		await fc.assert(
			fc.asyncProperty(fc.array(integer), anyRecord, cuts, async (numbers, rest, at) => {
				const text = `{"list":[${numbers.join(', ')}],"rest":${JSON.stringify(rest)}}`;
				const [record] = await recordsOf(`${text}\n${text}`, at);
				const kept = numbers.map((one) =>
					String(Number(one)) === String(one) ? Number(one) : String(one),
				);
				expect(record).toEqual({
					positionText: 'Line 1 of the file',
					value: { list: kept, rest: asJson(rest) },
				});
			}),
		);
	});

	it('are unchanged within texts; so are fractions', async () => {
		const value = {
			a: 'x: 12345678901234567890, "y\\": 12345678901234567891',
			b: 0.1234567890123456,
		};
		expect(await read(JSON.stringify(value))).toEqual([[1, value]]);
	});
});

describe('a file', () => {
	it.each([
		['no byte', ''],
		['a line break', '\n'],
		['blank lines', ' \r\n\t\n '],
		['an empty list', '[]'],
		['an empty list in blanks', ' [ ] '],
		['an empty list over lines', '[\n]\n'],
	])('may be empty, as %s', async (_, text) => expect(await read(text)).toEqual([]));

	it('of any text is read without an error', async () => {
		await fc.assert(
			fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 200 }), cuts, async (text, at) => {
				expect(Array.isArray(await positionsOf(text))).toBe(at.length >= 0);
			}),
		);
	});

	it('is read no further than its consumer asks', async () => {
		let taken = 0;
		async function* endless() {
			for (;;) {
				taken += 1;
				yield '{"n":1}\n{"n":2}\n';
			}
		}
		const first = await jsonRecords(endless()).next();
		expect(first.value).toEqual([
			{ positionText: 'Line 1 of the file', value: { n: 1 } },
			{ positionText: 'Line 2 of the file', value: { n: 2 } },
		]);
		expect(taken).toBe(1);
	});

	it.each([
		['lines', '{"n":1}\n'.repeat(200_000)],
		['an array', `[${'{"n":1},'.repeat(199_999)}{"n":1}]`],
	])('comes in groups of at most a hundred records, in one piece of %s', async (_, text) => {
		const lengths: number[] = [];
		for await (const group of jsonRecords(pieces(text, []))) lengths.push(group.length);
		expect(Math.max(...lengths)).toBe(100);
		expect(sum(lengths)).toBe(200_000);
	});

	it.each([
		['lines', '\n'],
		['one line', ' '],
	])('may begin with 8 MB of blanks, in %s', async (_, blankOne) => {
		const text = `${blankOne.repeat(8 * MB)}{"a":1}\n{"a":2}\n`;
		const at = Array.from({ length: 8192 }, (__, index) => index * 1024);
		const records = await recordsOf(text, at);
		expect(records.map((record) => 'value' in record && record.value)).toEqual([
			{ a: 1 },
			{ a: 2 },
		]);
	});
});
