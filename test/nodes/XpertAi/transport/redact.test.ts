import fc from 'fast-check';
import { escape as escapeHtml } from 'lodash';

import { redactor } from 'nodes/XpertAi/transport/redact';

const TOKEN = 'sk-x-s3cret/4711+"q"';
const redact = redactor(TOKEN);

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
