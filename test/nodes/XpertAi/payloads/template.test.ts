import { type Template, parseTemplate, partsOf } from 'nodes/XpertAi/payloads/template';

/** A template in short: fixed texts in quotes, parts in angle brackets (`=` for those that only read), sums in round ones. */
function short(template: Template): string {
	switch (template.kind) {
		case 'fixed':
			return `'${template.source}'${template.expression === undefined ? '' : '!'}`;
		case 'number':
			return String(template.value);
		case 'part':
			return `<${template.isPath ? '=' : ''}${template.code}>`;
		case 'sum':
			return `(${template.pieces.map(short).join(' + ')})`;
		case 'literal':
			return `\`${template.pieces.map(short).join(' ')}\``;
		case 'joined':
			return template.pieces.map(short).join(' ');
	}
}

/** Titles show code in braces, as people write it. */
const inBraces = (code: string) => `{{ ${code} }}`;

describe('an expression is taken apart', () => {
	it.each([
		['', "''"],
		['text', "'text'"],
		['{{ $json.a }}', '<=$json.a>'],
		['a{{ $json.b }}c', "'a' <=$json.b> 'c'"],
		['{{ $json.a }}{{ $json.b }}', '<=$json.a> <=$json.b>'],
		['{{ $json.a }} ', "<=$json.a> ' '"],
		['a{{ $json.b', "'a' <=$json.b>"],
		['a}}b', "'a}}b'"],
		['{{ {{ }} }}', "<{{> ' }}'"],
		['{{ "}}" }}', `<"> '" }}'`],
		['\\{{ $json.a }}', "'\\{{ $json.a }}'"],
		['a\\{{{{ $json.a }}', "'a\\{{'! <=$json.a>"],
		['\\\\{{ $json.a }}', "'\\\\'! <=$json.a>"],
		['{{ $json.a }}\\', "<=$json.a> '\\'"],
		["{{ '\\}}' }}", "'\\}}'!"],
		['{{ }}', '<>'],
		['{{', "''"],
	])('at its braces, as n8n does it: %s', (expression, said) => {
		expect(short(parseTemplate(expression))).toBe(said);
	});

	it.each(
		[
			["'user' + $json.id", "('user' + <=$json.id>)"],
			['"a" + $json.b + "c"', "('a' + <=$json.b> + 'c')"],
			["('a' + ($json.b + 'c'))", "('a' + (<=$json.b> + 'c'))"],
			['$json.a + 1', '(<=$json.a> + 1)'],
			["'a' + 01", "('a' + <01>)"],
			["'a' + 1.5e+3", "('a' + <1.5e+3>)"],
			["'a' + 0x1F + .5 + 2n", "('a' + <0x1F> + <.5> + <2n>)"],
			["'a' + -$json.b", "('a' + <-$json.b>)"],
			["'a' + +$json.b", "('a' + <+$json.b>)"],
			["'a' + !$json.b", "('a' + <!$json.b>)"],
			["'a' + typeof $json.b", "('a' + <typeof $json.b>)"],
			["'a' + $json.b * 2 / 3", "('a' + <$json.b * 2 / 3>)"],
			["'a' + $json.b.trim()", "('a' + <$json.b.trim()>)"],
			["'a' + $json.b.replace(/[)'/]+/g, '')", "('a' + <$json.b.replace(/[)'/]+/g, '')>)"],
			["'a' + $json.b.split(/\\/+/)[0]", "('a' + <$json.b.split(/\\/+/)[0]>)"],
			["'a' + ($json.b || 'c')", "('a' + <$json.b || 'c'>)"],
			["'a' + ['b', 'c'].join('+')", "('a' + <['b', 'c'].join('+')>)"],
			["'a' + new Date($json.b)", "('a' + <new Date($json.b)>)"],
			["'it\\'s' + \"\\n\"", "('it\\'s'! + '\\n'!)"],
			["'+' /* + */ + $json.b // + '", "('+' + <=$json.b>)"],
			['/* n8n-auto-generated */ $json.a', '<=$json.a>'],
			["'a' + {}.b", "('a' + <{}.b>)"],
			["+$json.a + 'b'", "(<+$json.a> + 'b')"],
			["/a'/.source + $json.b", "(</a'/.source> + <=$json.b>)"],
			["'a' + typeof -$json.b", "('a' + <typeof -$json.b>)"],
			["'a' + $json.b / 2 + ')' / 3", "('a' + <$json.b / 2> + <')' / 3>)"],
			["('a') + ($json.b)", "('a' + <=$json.b>)"],
			["'a' + [$json.b]", "('a' + <[$json.b]>)"],
			["'a' + ($json.b in $json.c)", "('a' + <$json.b in $json.c>)"],
			["'a' + 0xe+1", "('a' + <0xe> + 1)"],
			["'a' + 1e+5 + 1_0 + 2.5", "('a' + <1e+5> + <1_0> + <2.5>)"],
			["'a' + ($json.b ?.5:1)", "('a' + <$json.b ?.5:1>)"],
		].map(([code = '', said]) => [inBraces(code), said]),
	)('at its sums: %s', (expression, said) => {
		expect(short(parseTemplate(expression))).toBe(said);
	});

	it.each(
		[
			['`a`', "`'a'`"],
			['`a${$json.b}c`', "`'a' <=$json.b> 'c'`"],
			['`${$json.a}`', '`<=$json.a>`'],
			["`$a${ '}' + $json.b }$`", "`'$a' ('}' + <=$json.b>) '$'`"],
			['`a${`b${$json.c}`}`', "`'a' `'b' <=$json.c>``"],
			['`a\\`${$json.b}`', "`'a\\`'! <=$json.b>`"],
			['`${{ a: 1 }.a}`', '`<{ a: 1 }.a>`'],
			["'a' + `b${$json.c}`", "('a' + `'b' <=$json.c>`)"],
		].map(([code = '', said]) => [inBraces(code), said]),
	)('at its template literals: %s', (expression, said) => {
		expect(short(parseTemplate(expression))).toBe(said);
	});

	it.each(
		[
			...["$json.a || 'b'", "$json.a ?? 'b'", "$json.a ? 'b' + $json.c : 'd'", "'a' + $json.b - 1"],
			...[
				"'a' + $json.b === 'c'",
				"'a' + $json.b, 'c'",
				"'a' + $json.b | 0",
				"a => 'b' + a",
				"'a' +",
			],
			...[
				"'a' + ++b",
				"a += 'b'",
				"'a' in $json + 'b'",
				"'a' + b instanceof c",
				"'a' < $json.b + 'c'",
			],
			...[
				"'a' + function () {}",
				"'a' + class {}",
				"'a' + async () => 1",
				"'a' + b >> 1",
				"'a' + b;",
			],
			...["'a", '"a', '`a', '`a${b`', "'a' + (b", "'a' + b)", "'a' + (b]", "'a' + #b", "'a' + b\\"],
			...['`a${}`', 'f`a` ', `'a' + ${'b'.repeat(10_000)}`],
		].map(inBraces),
	)('no further: %s', (expression) => {
		const code = expression.slice(2, -2).trim();
		expect(parseTemplate(expression)).toMatchObject({ kind: 'part', code });
	});

	it.each(["'a + $json.b", '`a${$json.b', '', '()', '$json.'].map(inBraces))(
		'not at all where it is no code: %s',
		(expression) => {
			const code = expression.slice(2, -2).trim();
			const reads = code === '$json.' ? ['$json'] : [];
			expect(parseTemplate(expression)).toEqual({
				kind: 'part',
				code,
				isPath: false,
				pathsRead: reads,
			});
		},
	);
});

describe('a part', () => {
	it.each(
		[
			...[
				'$json',
				'$json.a.b',
				'$json?.a',
				'$json["a b"]',
				"$json['a'].b",
				'$json.a[0]',
				'$json?.["a"]',
			],
			...["$('Node').item.json.a", "$('Node').first().json.a", "$('Node').all()[0].json.a"],
			...[
				"$('a').itemMatching(2).json.b",
				'$input.item.json.a',
				'$node["A"].json.b',
				'$binary.data.fileName',
			],
			...["$fromAI('key')", "$fromAI('key', `about it`, 'string')", '$now', '$vars.a', '$json . a'],
		].map(inBraces),
	)('only reads: %s', (expression) => {
		const code = expression.slice(3, -3);
		const part = { kind: 'part', code, isPath: true, pathsRead: [code] };
		expect(parseTemplate(expression)).toEqual(part);
	});

	const COMPUTING: Array<[string, string[]]> = [
		['$json.a.trim()', ['$json.a']],
		['$json.a?.trim()', ['$json.a']],
		['$json.a?.("x")', ['$json.a']],
		["$fromAI('k').a", ["$fromAI('k')"]],
		['$json.a.$b.trim()', ['$json.a.$b']],
		['$json.a[$json.b]', ['$json.a', '$json.b']],
		['$json.a["b" + 1]', ['$json.a']],
		['[$json.a, b.$json, $json["c"]].join()', ['$json.a', '$json["c"]']],
		[
			"$('Node').all().find(({ json }) => json.id === $json.id)?.json.a",
			["$('Node').all()", '$json.id'],
		],
		['$if($json.a, 1, 2)', ['$json.a']],
		['f(`a${$json.b}${g($json.c)}`)', ['$json.b', '$json.c']],
		['[...$json.a, ...$json.b].join()', ['$json.a', '$json.b']],
		["f(...$('A').all())", ["$('A').all()"]],
		['!$json.a', ['$json.a']],
		['DateTime.now()', []],
		['a.b', []],
	];
	it.each(COMPUTING.map(([code, reads]) => [inBraces(code), reads] as const))(
		'that computes tells what it reads: %s',
		(expression, reads) => {
			const code = expression.slice(3, -3);
			expect(parseTemplate(expression)).toEqual({
				kind: 'part',
				code,
				isPath: false,
				pathsRead: reads,
			});
		},
	);
});

it('very deep code is taken apart in a moment', () => {
	const deep = (open: string, close: string, count: number) =>
		`{{ ${open.repeat(count)}$json.a${close.repeat(count)} }}`;
	for (const expression of [deep('(', ')', 1000), deep('`${', '}`', 1000), deep('[', ']', 1000)])
		expect(partsOf(parseTemplate(expression))).toHaveLength(1);
});
