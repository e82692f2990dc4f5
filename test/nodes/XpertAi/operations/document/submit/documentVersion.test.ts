import type { IDataObject } from 'n8n-workflow';
import { DateTime } from 'luxon';

import {
	asVersion,
	readVersion,
	wantsVersion,
} from 'nodes/XpertAi/operations/document/submit/documentVersion';
import { throwIfFixedVersion } from 'nodes/XpertAi/operations/document/submit/fixedFieldChecks';

import { evaluatingItem as itemWith } from '../../../../support/evaluatingItem';
import { thrownBy } from '../../../../support/thrown';

const VERSION = 'documentSettings.documentVersion';
const withVersion = (documentVersion: string) => ({ documentSettings: { documentVersion } });

describe('a version', () => {
	it.each<[string, unknown, string | undefined]>([
		['a text with blanks around it', ' v1 ', 'v1'],
		['a number', 7, '7'],
		['a Date', new Date('2026-01-31T08:00:00Z'), '2026-01-31T08:00:00.000Z'],
		[
			'a DateTime',
			DateTime.fromISO('2026-01-31T08:00:00Z', { zone: 'utc' }),
			'2026-01-31T08:00:00.000Z',
		],
		['a text with such a word', 'null-1', 'null-1'],
		['nothing', undefined, undefined],
		['null', null, undefined],
		['an empty text', '', undefined],
		['blanks', ' ', undefined],
		['true', true, undefined],
		['an object', {}, undefined],
		['a list', ['a'], undefined],
		['an invalid Date', new Date(NaN), undefined],
		['the word undefined', 'undefined', undefined],
		['the word null between blanks', ' null ', undefined],
		['the word NaN', 'NaN', undefined],
		['the words of an invalid date', 'Invalid DateTime', undefined],
		['the words of an object', '[object Object]', undefined],
	])('may be made of %s, if that stands for something', (_, value, version) => {
		expect(asVersion(value)).toBe(version);
	});

	it.each<[string, IDataObject, string | undefined]>([
		['={{ $json.a }}', { a: 7 }, '7'],
		['=v{{ $json.a }}', { a: 7 }, 'v7'],
		['=v{{ $json.a }}', {}, undefined],
		['={{ $json.a }}', { a: { b: 1 } }, undefined],
		['', {}, undefined],
	])('of the expression %s is read (%#)', (expression, json, version) => {
		const item = itemWith(withVersion(expression), json);
		expect(readVersion(item, VERSION)).toBe(version);
		expect(wantsVersion(item, VERSION)).toBe(expression !== '');
	});

	it.each([
		['v1', 2, true],
		['=v1', 2, true],
		["={{ 'v' + 1 }}", 2, true],
		['v1', 1, false],
		['', 2, false],
		['={{ $json.a }}', 2, false],
	])('of %s for %i documents is refused: %s', (version, count, isRefused) => {
		const check = () => {
			throwIfFixedVersion(itemWith(withVersion(version)), VERSION, count);
			throw new Error('accepted');
		};
		expect(thrownBy(check).message).toContain(
			isRefused ? '"Document Version" is Fixed' : 'accepted',
		);
	});

	it('of a Fixed expression is told as what it is', () => {
		const check = () => throwIfFixedVersion(itemWith(withVersion('{{ $json.a }}')), VERSION, 2);
		expect(thrownBy(check).message).toContain('is Fixed and holds an expression');
	});
});
