import fc from 'fast-check';

import { sanitizedLine, htmlTitleOf } from 'nodes/XpertAi/transport/sanitizedLine';

const TOKEN = 'sk-x-s3cret/4711+"q"';

describe('words of a server', () => {
	it.each([
		['stay as they are', 'Name Exist', 'Name Exist'],
		['stand on one line', ' two\r\n  lines\t', 'two lines'],
		['have no tags', '<b>not</b> <i class="a">now</i>', 'not now'],
		['have no comments', '<h1>404</h1><!-- x --><p>Not Found</p>', '404 Not Found'],
		['are apart where a tag was', 'a<br/>b', 'a b'],
		['have no script', '<script>alert(1)</script>', 'alert(1)'],
		['have no tag with a > in it', '<img alt=">" onerror=alert(1)>', '" onerror=alert(1)>'],
		// What is no tag says something.
		['may have < and >', '5 < 6 and 7 > 6', '5 < 6 and 7 > 6'],
		['are not cut at a <', 'size <limit', 'size < limit'],
		['have no tag in a tag', '<<b>script>x', '< script>x'],
		['keep what is escaped', '&lt;b&gt; is escaped', '&lt;b&gt; is escaped'],
		['are nothing where there are none', '', undefined],
		['are nothing where there are blanks', ' \n\t', undefined],
		['are nothing where there are tags alone', '<p> </p>', undefined],
	])('%s', (_, text, words) => expect(sanitizedLine(text)).toBe(words));

	/** Texts made of what markup is made of. */
	const hostile = fc
		.array(
			fc.oneof(
				fc.constantFrom('<', '>', '</', '<!', '<?', '/>', 'script', '<img', ' ', '"', TOKEN),
				fc.string({ maxLength: 5 }),
			),
			{ maxLength: 60 },
		)
		.map((pieces) => pieces.join(''));

	it('are one short line that holds no markup, whatever it was', () => {
		fc.assert(
			fc.property(hostile, (text) => {
				const words = sanitizedLine(text) ?? 'x';
				expect(words).not.toMatch(/<[a-z/!?]/i);
				expect(words).toMatch(/^\S(.{0,498}\S)?$/u);
			}),
		);
	});

	it('are looked for in the first 16 KB', () => {
		expect(sanitizedLine(`${' '.repeat(16 * 1024 - 4)}here and there`)).toBe('here');
		expect(htmlTitleOf(`${' '.repeat(16 * 1024)}<title>late</title>`)).toBeUndefined();
	});
});

it.each([
	['is told', '<html><head><title>502 Bad Gateway</title></head>', '502 Bad Gateway'],
	['is told on one line', '<TITLE lang="en"> Sign in\n</TITLE>', 'Sign in'],
	['may be empty', '<title></title>', ''],
	['is none where it does not end', '<title>never ends', undefined],
	['is told where a tag is doubled', '<title<title>x</title>', 'x'],
])('the title of a page %s', (_, page, title) => expect(htmlTitleOf(page)).toBe(title));
