import fc from 'fast-check';

import { jsonRecords } from '../../../../nodes/XpertAi/ingest/jsonRecords';
import { jsonValues, pieces, read, recordsOf } from './support/fileRecords';

const { value: anyValue, record: anyRecord } = jsonValues;
const cuts = fc.array(fc.nat({ max: 600 }), { maxLength: 30 });
const bom = fc.constantFrom('', '\ufeff');
/** As JSON gives it back: without keys such as `__proto__` losing their value, and -0 as 0. */
const asJson = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown;
const blank = fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\r\n'), maxLength: 4 });
const lineBreaks = (text: string) => text.split('\n').length - 1;

describe('a file with one record a line', () => {
	it('gives back every value with its line, wherever its bytes are cut', async () => {
		const lines = fc.array(
			fc.record({
				value: fc.oneof(anyRecord, anyValue),
				blankBefore: fc.array(fc.constantFrom('', ' ', '\t'), { maxLength: 2 }),
				end: fc.constantFrom('\n', '\r\n', ' \n'),
			}),
		);
		await fc.assert(
			fc.asyncProperty(
				anyRecord,
				lines,
				bom,
				fc.boolean(),
				cuts,
				async (first, rest, mark, ends, at) => {
					let text = `${mark}${JSON.stringify(first)}\n`;
					const expected: unknown[] = [[1, asJson(first)]];
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

	it('reports a line that does not parse with its number, and goes on', async () => {
		const text = '{"a":1}\nnot json\n{"a":2\n{"a":3}}\n\n{"a":4}\n';
		expect(await read(text)).toEqual([
			[1, { a: 1 }],
			[2, 'bad'],
			[3, 'bad'],
			[4, 'bad'],
			[6, { a: 4 }],
		]);
		expect((await recordsOf(text))[1]).toEqual({ line: 2, flaw: 'is not valid JSON' });
	});

	it('may lack the last line break, and may break off', async () => {
		expect(await read('{"a":1}\n{"a":2}')).toEqual([
			[1, { a: 1 }],
			[2, { a: 2 }],
		]);
		expect(await read('{"a":1}\n{"a":')).toEqual([
			[1, { a: 1 }],
			[2, 'bad'],
		]);
	});
});

describe('a file with an array of records', () => {
	it('gives back every value with the line it starts on, wherever its bytes are cut', async () => {
		const elements = fc.array(fc.record({ value: anyValue, before: blank, after: blank }));
		const indent = fc.constantFrom(undefined, 2, '\t');
		await fc.assert(
			fc.asyncProperty(
				elements,
				blank,
				bom,
				indent,
				cuts,
				async (list, around, mark, space, at) => {
					let text = `${mark}${around}[`;
					const expected = list.map(({ value, before, after }, index) => {
						text += `${index > 0 ? ',' : ''}${before}`;
						const line = lineBreaks(text) + 1;
						text += JSON.stringify(value, null, space) + after;
						return [line, asJson(value)];
					});
					expect(await read(`${text}${list.length > 0 ? '' : around}]${around}`, at)).toEqual(
						expected,
					);
				},
			),
		);
	});

	it('as a program writes it comes back whole', async () => {
		await fc.assert(
			fc.asyncProperty(
				fc.array(anyValue),
				fc.constantFrom(undefined, 2),
				cuts,
				async (list, space, at) => {
					const records = await recordsOf(JSON.stringify(list, null, space), at);
					expect(records.map((record) => 'value' in record && record.value)).toEqual(asJson(list));
				},
			),
		);
	});

	it('reports an element that does not parse with its line, and goes on', async () => {
		expect(await read('[\n  {"a":1},\n  {"a":oops},\n  nonsense,\n\n  {"a":4}\n]\n')).toEqual([
			[2, { a: 1 }],
			[3, 'bad'],
			[4, 'bad'],
			[6, { a: 4 }],
		]);
	});

	it('loses nothing to an element that closes more than it opened', async () => {
		expect(await read('[\n{"a":1},\n{"a":2}},\n{"a":3}\n]')).toEqual([
			[1 + 1, { a: 1 }],
			[3, 'bad'],
			[4, { a: 3 }],
		]);
	});

	it('keeps count of lines also where a text is broken by one', async () => {
		expect(await read('[\n{"a":"broken\ntext"},\n{"a":2}\n]')).toEqual([
			[2, 'bad'],
			[4, { a: 2 }],
		]);
	});

	it.each([
		[
			'[{"a":1},{"a":2}',
			[
				[1, { a: 1 }],
				[1, 'bad'],
			],
		],
		[
			'[{"a":1},\n',
			[
				[1, { a: 1 }],
				[1, 'bad'],
			],
		],
		[
			'[{"a":1},\n{"a',
			[
				[1, { a: 1 }],
				[2, 'bad'],
			],
		],
		['[', [[1, 'bad']]],
	])('that is not closed is reported: %j', async (text, expected) => {
		expect(await read(text)).toEqual(expected);
		const { line, ...last } = (await recordsOf(text)).at(-1) ?? {};
		expect([line, last]).toEqual([
			expected.at(-1)?.[0],
			{ flaw: 'ends before its array is closed' },
		]);
	});

	it.each(['[{"a":1}]\n{"a":2}\n', '[]\noops, [\n', '[{"a":1}]\n]'])(
		'says of what stands behind its end that it does: %j',
		async (text) => {
			expect((await recordsOf(text)).filter((record) => 'flaw' in record)).toEqual([
				{ line: 2, flaw: 'stands behind the end of the array' },
			]);
		},
	);

	it.each([
		['[{"a":1}]\n{"a":2}\n', 2],
		['[{"a":1}]\noops\n', 2],
		['[{"a":1}]\n[{"a":2}', 2],
	])('does not pass over what stands behind its end: %j', async (text, line) => {
		const records = await read(text);
		expect(records[0]).toEqual([1, { a: 1 }]);
		expect(records.slice(1).map(([at]) => at)).toEqual([line]);
	});
});

describe('a file', () => {
	it.each(['', '\ufeff', '\n', ' \r\n\t\n ', '[]', ' [ ] ', '\ufeff[\n]\n'])(
		'may hold nothing: %j',
		async (text) => expect(await read(text)).toEqual([]),
	);

	it('may have blanks before its first record', async () => {
		expect(await read('\n\n  {"a":1}\n', [1, 2, 3])).toEqual([[3, { a: 1 }]]);
		expect(await read('\n\n [\n{"a":1}]', [1, 2, 3])).toEqual([[4, { a: 1 }]]);
	});

	it.each([
		['lines', '{"a":"caf\xe9"}\n{"a":2}\n'],
		['an array', '[{"a":"caf\xe9"},\n{"a":2}]'],
	])('in another encoding than UTF-8 is not guessed at: %s', async (_, text) => {
		expect(await recordsOf(Buffer.from(text, 'latin1'))).toEqual([
			{ line: 1, flaw: 'holds bytes that are not UTF-8; save the file in that encoding' },
			{ line: 2, value: { a: 2 } },
		]);
	});

	it('in UTF-16 is not guessed at either', async () => {
		const flaws = await recordsOf(Buffer.from('\ufeff{"a":1}\n', 'utf16le'));
		expect(flaws[0]).toEqual({ line: 1, flaw: expect.stringContaining('not UTF-8') as string });
		expect(flaws.every((record) => 'flaw' in record)).toBe(true);
	});

	it('of any bytes is read to its end', async () => {
		await fc.assert(
			fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), cuts, async (bytes, at) => {
				expect(Array.isArray(await recordsOf(bytes, at))).toBe(true);
			}),
		);
	});

	it.each(['{"n":1}\n', '[{"n":1},\n{"n":2},\n'])(
		'is read no further than asked for: %j',
		async (head) => {
			let taken = 0;
			async function* endless() {
				for (;;) {
					taken += 1;
					yield Buffer.from(taken === 1 ? head : '{"n":3},\n');
				}
			}
			const first = await jsonRecords(endless()).next();
			expect(first.value).toEqual({ line: 1, value: { n: 1 } });
			expect(taken).toBe(1);
		},
	);

	it('of many records in small pieces is read in a time that grows with its size', async () => {
		const text = Buffer.from(`[${'{"name":"a","text":"some words"},'.repeat(20_000)}{}]`);
		const at = Array.from({ length: text.length / 64 }, (_, index) => index * 64);
		let count = 0;
		const started = Date.now();
		for await (const record of jsonRecords(pieces(text, at))) count += 'value' in record ? 1 : 0;
		expect(count).toBe(20_001);
		expect(Date.now() - started).toBeLessThan(20_000);
	});
});
