import fc from 'fast-check';
import { DateTime } from 'luxon';
import type { INodeProperties } from 'n8n-workflow';

import { flawMessage } from '../../../../nodes/XpertAi/execution/badInput';
import type { Refuse } from '../../../../nodes/XpertAi/execution/badInput';
import { fieldCollection } from '../../../../nodes/XpertAi/execution/fields';
import { fieldValues, parsedJson, utcText } from '../../../../nodes/XpertAi/execution/values';
import {
	chunksField,
	pagesField,
} from '../../../../nodes/XpertAi/operations/document/submit/sources/parts';
import { bodyOf } from '../../support/operations';
import { EMPTY_WORDS, thrownBy } from '../../support/thrown';

const refuse: Refuse = (flaw) => {
	throw new Error(flawMessage(flaw));
};

/** The values of fields, off what n8n gives for them. */
const valuesOf = (fields: INodeProperties[], raw: Record<string, unknown>) =>
	fieldValues(refuse, fields, raw);

const field = (type: INodeProperties['type'], more: Partial<INodeProperties> = {}) =>
	({ displayName: 'A Field', name: 'a', type, default: '', ...more }) as INodeProperties;

/** What one field of a type makes of a raw value. */
const readOne = (type: INodeProperties['type'], raw: unknown, more?: Partial<INodeProperties>) =>
	valuesOf([field(type, more)], { a: raw });

describe('collections', () => {
	const { fields } = bodyOf('knowledgebase', 'create');

	it('that only group fields are laid flat', () => {
		const parameters = { name: 'M', additionalFields: { description: 'D', permission: 'public' } };
		expect(valuesOf(fields, parameters)).toEqual({
			name: 'M',
			description: 'D',
			permission: 'public',
		});
	});

	it('inside them stay objects', () => {
		const parameters = {
			name: 'M',
			additionalFields: { recall: { topK: '7', score: 0.4 }, copilotModel: { model: 5 } },
		};
		expect(valuesOf(fields, parameters)).toEqual({
			name: 'M',
			recall: { topK: 7, score: 0.4 },
			copilotModel: { model: '5' },
		});
	});

	it('leave out what was left empty in them', () => {
		const copilotModel = { copilotId: '', model: 'm' };
		const parameters = { name: 'M', additionalFields: { integrationId: '', copilotModel } };
		expect(valuesOf(fields, parameters)).toEqual({
			name: 'M',
			copilotModel: { model: 'm' },
		});
	});

	it('hold nothing but what the fields know', () => {
		const parameters = { name: 'M', additionalFields: { ofAnOlderVersion: 1 }, other: 2 };
		expect(valuesOf(fields, parameters)).toEqual({ name: 'M' });
	});

	it.each([undefined, null, '', {}, []])('given as %j are left out', (raw) => {
		expect(valuesOf(fields, { name: 'M', additionalFields: raw })).toEqual({
			name: 'M',
		});
	});

	it('may be JSON text, which an expression gives', () => {
		const copilotModel = { copilotId: 'c', model: 'm' };
		for (const additionalFields of [
			{ copilotModel: JSON.stringify(copilotModel) },
			JSON.stringify({ copilotModel }),
		])
			expect(valuesOf(fields, { name: 'M', additionalFields })).toEqual({
				name: 'M',
				copilotModel,
			});
	});

	it.each([
		['text', /^"Embedding Model" must be JSON \(.+\), but is "text"$/],
		['[1]', /^"Embedding Model" must be an object \(JSON\), but is "\[1\]"$/],
		[7, /^"Embedding Model" must be an object \(JSON\), but is 7$/],
	])('given as %j are refused: servers drop what is no object', (raw, words) => {
		const parameters = { name: 'M', additionalFields: { copilotModel: raw } };
		expect(thrownBy(() => valuesOf(fields, parameters)).message).toMatch(words);
	});
});

describe('fixed collections', () => {
	it('with one group become one object', () => {
		const parameters = { filters: { order: { values: { column: 'title', direction: 'ASC' } } } };
		const { fields } = bodyOf('conversation', 'search');
		expect(valuesOf(fields, parameters)).toEqual({
			order: { column: 'title', direction: 'ASC' },
		});
	});

	it('with many become a list, each with its further fields laid flat', () => {
		const parameters = {
			pages: { values: [{ pageContent: 'one' }, { pageContent: 2, additionalFields: {} }] },
			chunks: {
				values: [
					{ pageContent: 'c', additionalFields: { metadata: '{"k":1}', parent: '{"id":"p"}' } },
				],
			},
		};
		expect(valuesOf([pagesField, chunksField], parameters)).toEqual({
			pages: [{ pageContent: 'one' }, { pageContent: '2' }],
			chunks: [{ pageContent: 'c', metadata: { k: 1 }, parent: { id: 'p' } }],
		});
	});

	it.each([{}, undefined, '', { other: [] }])('without a group, %j, are left out', (raw) => {
		expect(valuesOf([pagesField], { pages: raw })).toEqual({});
	});
});

describe('single fields', () => {
	it.each([
		['number', '7', 7],
		['number', ' 0.5 ', 0.5],
		['number', '1e3', 1000],
		['number', -3, -3],
		['number', 'seven', 'seven'],
		['boolean', 'true', true],
		['boolean', 'FALSE', false],
		['boolean', true, true],
		['boolean', 'maybe', 'maybe'],
		['string', 5, '5'],
		['string', false, 'false'],
		['string', ' a ', ' a '],
		['string', { an: 'object' }, { an: 'object' }],
		['options', 'x', 'x'],
		['multiOptions', ['x', 'y'], ['x', 'y']],
		['json', '{"a": [1, null]}', { a: [1, null] }],
		['json', { already: 'parsed' }, { already: 'parsed' }],
		['json', [1], [1]],
		['json', '5', 5],
		['resourceLocator', { __rl: true, mode: 'id', value: 'x' }, 'x'],
		['resourceLocator', 'x', 'x'],
	] as Array<[INodeProperties['type'], unknown, unknown]>)(
		'of the type %s read %j as %j',
		(type, raw, value) => expect(readOne(type, raw)).toEqual({ a: value }),
	);

	it.each(['string', 'number', 'json', 'dateTime', 'resourceLocator', 'boolean'] as const)(
		'of the type %s are left out when empty',
		(type) => {
			for (const raw of [undefined, null, '']) expect(readOne(type, raw)).toEqual({});
		},
	);

	it('keep every number and switch that text can say', () => {
		fc.assert(
			fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), (n, b) => {
				const number = Object.is(n, -0) ? 0 : n;
				expect(readOne('number', String(n))).toEqual({ a: number });
				expect(readOne('boolean', String(b))).toEqual({ a: b });
			}),
		);
	});

	it('keep 0 and false, which are values', () => {
		expect(readOne('number', 0)).toEqual({ a: 0 });
		expect(readOne('boolean', false)).toEqual({ a: false });
	});

	it('with several values are lists as they are', () => {
		const several = { typeOptions: { multipleValues: true } };
		expect(readOne('string', ['a', 'b'], several)).toEqual({ a: ['a', 'b'] });
	});

	it.each(['dateTime', 'string'] as const)('of the type %s write a date as ISO 8601', (type) => {
		const date = new Date('2026-01-31T08:00:00Z');
		const berlin = DateTime.fromISO('2026-01-31T09:00:00', { zone: 'Europe/Berlin' });
		expect(readOne(type, date)).toEqual({ a: '2026-01-31T08:00:00.000Z' });
		expect(readOne(type, berlin)).toEqual({ a: '2026-01-31T09:00:00.000+01:00' });
	});

	it('name JSON that does not parse as the user sees it', () => {
		const error = thrownBy(() =>
			valuesOf(
				[fieldCollection('filters', [field('json', { name: 'where', displayName: 'Where' })])],
				{ filters: { where: '{"threadId": }' } },
			),
		);
		expect(error.message).toMatch(/^"Where" must be JSON \(.+\), but is ".+"$/);
		expect(error.message.replace(/\(.+\)/, '')).not.toMatch(EMPTY_WORDS);
	});
});

describe('JSON', () => {
	it('gives back every value, as text and as it is', () => {
		fc.assert(
			fc.property(fc.jsonValue(), (value) => {
				const text = JSON.stringify(value);
				expect(parsedJson(refuse, 'JSON Body', text)).toEqual(JSON.parse(text));
			}),
		);
	});
});

it.each([
	['a Date', new Date(0), '1970-01-01T00:00:00.000Z'],
	['a DateTime', DateTime.fromMillis(0, { zone: 'Asia/Tokyo' }), '1970-01-01T00:00:00.000Z'],
	['what n8n makes of one', '1970-01-01T09:00:00.000+09:00', '1970-01-01T00:00:00.000Z'],
	['a day', '1970-01-01', '1970-01-01'],
	['a number', 5, 5],
])('%s is a time in UTC, where it is one', (_, value, text) => {
	expect(utcText(value)).toBe(text);
});
