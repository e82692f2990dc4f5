import fc from 'fast-check';
import { cloneDeepWith, escape as escapeHtml } from 'lodash';

import { cleanAnswer, redactor, sanitize, titleOf } from 'nodes/XpertAi/transport/sanitize';

const TOKEN = 'sk-x-s3cret/4711+"q"';
const redact = redactor(TOKEN);

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
	])('%s', (_, text, words) => expect(sanitize(text)).toBe(words));

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
				const words = sanitize(text) ?? 'x';
				expect(words).not.toMatch(/<[a-z/!?]/i);
				expect(words).toMatch(/^\S(.{0,498}\S)?$/u);
			}),
		);
	});

	it('are looked for in the first 16 KB', () => {
		expect(sanitize(`${' '.repeat(16 * 1024 - 4)}here and there`)).toBe('here');
		expect(titleOf(`${' '.repeat(16 * 1024)}<title>late</title>`)).toBeUndefined();
	});
});

describe('the words in an answer', () => {
	it.each([
		[
			'in an error',
			{ error: `no ${TOKEN}`, status: 'error' },
			{ error: 'no ***', status: 'error' },
		],
		[
			'deep in an error',
			{ a: [{ error: { deep: [TOKEN, 1, null] } }] },
			{ a: [{ error: { deep: ['***', 1, null] } }] },
		],
		[
			'in words of processing, not in a name',
			{ processMsg: TOKEN, name: TOKEN },
			{ processMsg: '***', name: TOKEN },
		],
		['in words of a rebuild', { embeddingRebuildError: TOKEN }, { embeddingRebuildError: '***' }],
		[
			'in the name of a task',
			{ tasks: [{ name: TOKEN, call: TOKEN }] },
			{ tasks: [{ name: '***', call: TOKEN }] },
		],
		[
			'not in the call of a task',
			{ tasks: [{ call: { name: TOKEN } }] },
			{ tasks: [{ call: { name: TOKEN } }] },
		],
		[
			'in what a tool says that failed, not in what one has found',
			[{ output: `Error: Bearer ${TOKEN}` }, { output: `An Error: ${TOKEN}` }],
			[{ output: 'Error: Bearer ***' }, { output: `An Error: ${TOKEN}` }],
		],
		// Other tokens that a tool has found stay, because a workflow may need them.
		...Object.entries({
			'in what goes into a tool': { type: 'component', data: { input: { deep: [TOKEN] } } },
			'in what comes out of a tool, without the tokens of others': {
				type: 'component',
				data: { output: `Bearer other-123 ${TOKEN}` },
			},
			'in the passages that a step has found': {
				type: 'component',
				data: { data: [{ pageContent: TOKEN }] },
			},
			'in the calls of a message': { tool_calls: [{ args: { url: TOKEN } }], content: 'x' },
			'in the result of a call': { tool_call_id: 'call_1', content: [{ text: TOKEN }] },
		}).map(([name, part]): [string, unknown, unknown] => [
			name,
			part,
			cloneDeepWith(part, (text: unknown) =>
				typeof text === 'string' ? text.replace(TOKEN, '***') : undefined,
			),
		]),
		[
			'not in a text of the assistant',
			{ type: 'text', data: TOKEN, content: TOKEN },
			{ type: 'text', data: TOKEN, content: TOKEN },
		],
		[
			'not in the metadata of a document',
			{ metadata: { error: TOKEN, tasks: [{ name: TOKEN }] }, error: { metadata: [TOKEN] } },
			{ metadata: { error: TOKEN, tasks: [{ name: TOKEN }] }, error: { metadata: ['***'] } },
		],
		// They are compared byte by byte.
		[
			'not in notes of the node',
			{ processMsg: `n8n-memory-1:${TOKEN}` },
			{ processMsg: `n8n-memory-1:${TOKEN}` },
		],
		[
			'not in fields with other names',
			{ error: '', errors: TOKEN, lasterror: TOKEN, title: `Error: ${TOKEN}`, pages: [TOKEN] },
			{ error: '', errors: TOKEN, lasterror: TOKEN, title: `Error: ${TOKEN}`, pages: [TOKEN] },
		],
		[
			'with the keys of a provider',
			{ copilot: [{ credentials: 1, modelProvider: { credentials: { a: 1 }, id: 1 } }] },
			{ copilot: [{ modelProvider: { id: 1 } }] },
		],
		...['args', 'metadata', 'value'].map((key): [string, unknown, unknown] => [
			`not what a user calls credentials in ${key}`,
			{ [key]: { modelProvider: { credentials: 1 }, deep: [{ credentials: 1 }], credentials: 2 } },
			{ [key]: { modelProvider: {}, deep: [{ credentials: 1 }], credentials: 2 } },
		]),
		['not in a list of texts', [TOKEN], [TOKEN]],
		['not in nothing', null, null],
	])('are hidden %s', (_, answer, redacted) => {
		cleanAnswer(answer, redact);
		expect(answer).toEqual(redacted);
	});
});

describe('the ways to write a token', () => {
	const hex = (code: number) => code.toString(16).padStart(2, '0');
	const each = (token: string, write: (code: number) => string) =>
		[...token].map((character) => write(character.charCodeAt(0))).join('');
	const written: Array<[string, (token: string) => string]> = [
		['as it is', (token) => token],
		['in an address', encodeURIComponent],
		['in JSON', (token) => JSON.stringify({ token })],
		['in hexadecimal digits', (token) => Buffer.from(token).toString('hex')],
		['in large hexadecimal digits', (token) => Buffer.from(token).toString('hex').toUpperCase()],
		['in base64', btoa],
		['in base64 without padding', (token) => btoa(token).replace(/=+$/, '')],
		['in base64 for addresses', (token) => Buffer.from(token).toString('base64url')],
		['in base64 in an address', (token) => encodeURIComponent(btoa(token))],
		['in the base64 of a header', (token) => btoa(`Bearer ${token}`)],
		['in the base64 of a user name', (token) => btoa(`u:${token}:x`)],
		['in the base64 of an object', (token) => btoa(`{"a":1,"token":"${token}"}`)],
		['in lower case', (token) => token.toLowerCase()],
		['in upper case', (token) => token.toUpperCase()],
		['percent-encoded', (token) => each(token, (code) => `%${hex(code)}`)],
		['percent-encoded twice', (token) => each(token, (code) => `%25${hex(code)}`)],
		['in JSON, all of it escaped', (token) => each(token, (code) => `\\u00${hex(code)}`)],
		['in JSON in JSON', (token) => JSON.stringify(JSON.stringify({ token }))],
		['in JSON in JSON, escaped', (token) => each(token, (code) => `\\\\u00${hex(code)}`)],
		['in the JSON of others', (token) => token.replace(/\//g, '\\/')],
		['in a script', (token) => each(token, (code) => `\\x${hex(code)}`)],
		['in HTML by numbers', (token) => each(token, (code) => `&#${code};`)],
		['in HTML by hexadecimal numbers', (token) => each(token, (code) => `&#x${hex(code)};`)],
		['in HTML by padded numbers', (token) => each(token, (code) => `&#0${code};`)],
		['in HTML', (token) => escapeHtml(token)],
		['in XML', (token) => escapeHtml(token).replace(/&#39;/g, '&apos;')],
		['in HTML in HTML', (token) => escapeHtml(escapeHtml(token))],
		[
			'in HTML, partly',
			(token) => token.replace(/[=+/]/g, (one) => `&#x0${hex(one.charCodeAt(0))};`),
		],
	];
	const unit = fc.constantFrom(...`abcXYZ019-_.+/=?"&%$<>'~`);
	const tokens = fc.string({ unit, minLength: 16, maxLength: 40 });

	it.each(written)('%s: none of it is left', (_, write) => {
		fc.assert(
			fc.property(tokens, (token) => {
				const rest = redactor(token)(`x ${write(token)} y`);
				expect(rest).toContain('***');
				expect(rest.toLowerCase()).not.toContain(token.toLowerCase());
				expect(rest.toLowerCase()).not.toContain(each(token, hex).slice(2, -2));
				// What is left of base64 is what its neighbours have a part in.
				for (const part of rest.split(/[^A-Za-z0-9+/_-]+/))
					expect(Buffer.from(part, 'base64').toString('latin1')).not.toContain(token.slice(2, -2));
			}),
		);
	});

	it('is hidden with its quotation marks and backslashes escaped', () => {
		const text = `{"t":${JSON.stringify(TOKEN)}}`;
		expect(redact(text)).toBe('{"t":"***"}');
		expect(redact(JSON.stringify(text))).toBe('"{"t":"***"}"');
	});

	const pieces = fc
		.array(fc.constantFrom('%', '25', '\\', '\\u0041', '&amp;', '&#', '65;', TOKEN, 'ä'))
		.map((parts) => parts.join(''));

	it('leaves what is written around it as it is', () => {
		fc.assert(
			fc.property(pieces, (text) => {
				const others = text.split(TOKEN).join(' ');
				expect(redactor('sk-x-another-one')(others)).toBe(others);
				expect(redact(`50%25 &amp; ${TOKEN}\\u0041`)).toBe('50%25 &amp; ***\\u0041');
			}),
		);
	});

	it('leaves ordinary words alone', () => {
		// The base64 and the digits of a short token occur in words.
		expect(redactor('abc')('YWJj or 616263')).toBe('YWJj or 616263');
		expect(redactor('')('')).toBe('');
		expect(redactor('')('Bearer authentication')).toBe('Bearer authentication');
		expect(redactor('')('bearer  another-1')).toBe('Bearer ***');
	});
});

it.each([
	['is told', '<html><head><title>502 Bad Gateway</title></head>', '502 Bad Gateway'],
	['is told on one line', '<TITLE lang="en"> Sign in\n</TITLE>', 'Sign in'],
	['may be empty', '<title></title>', ''],
	['is none where it does not end', '<title>never ends', undefined],
	['is told where a tag is doubled', '<title<title>x</title>', 'x'],
])('the title of a page %s', (_, page, title) => expect(titleOf(page)).toBe(title));
