import fc from 'fast-check';
import { DateTime } from 'luxon';
import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod';

import {
	readFields,
	readId,
	readJson,
	readNumber,
	readSwitch,
} from '../../../../nodes/XpertAi/execution/readFields';
import { chunksField, pagesField } from '../../../../nodes/XpertAi/operations/document/pages';
import { fieldCollection } from '../../../../nodes/XpertAi/operations/shared/fields';
import { readerOf } from '../../support/context';
import { bodyOf } from '../../support/operations';
import { EMPTY_WORDS, thrownBy } from '../../support/thrown';

const field = (type: INodeProperties['type'], more: Partial<INodeProperties> = {}) =>
	({ displayName: 'A Field', name: 'a', type, default: '', ...more }) as INodeProperties;

/** What one field of a type makes of a raw value. */
const readOne = (type: INodeProperties['type'], raw: unknown, more?: Partial<INodeProperties>) =>
	readFields(readerOf({ a: raw }), [field(type, more)]);

describe('collections', () => {
	const { fields } = bodyOf('knowledgebase', 'create');

	it('that only group fields are laid flat', () => {
		const parameters = { name: 'M', additionalFields: { description: 'D', permission: 'public' } };
		expect(readFields(readerOf(parameters), fields)).toEqual({
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
		expect(readFields(readerOf(parameters), fields)).toEqual({
			name: 'M',
			recall: { topK: 7, score: 0.4 },
			copilotModel: { model: '5' },
		});
	});

	it('leave out what was left empty in them', () => {
		const copilotModel = { copilotId: '', model: 'm' };
		const parameters = { name: 'M', additionalFields: { integrationId: '', copilotModel } };
		expect(readFields(readerOf(parameters), fields)).toEqual({
			name: 'M',
			copilotModel: { model: 'm' },
		});
	});

	it('hold nothing but what the fields know', () => {
		const parameters = { name: 'M', additionalFields: { ofAnOlderVersion: 1 }, other: 2 };
		expect(readFields(readerOf(parameters), fields)).toEqual({ name: 'M' });
	});

	it.each([undefined, null, '', {}, [], 'text'])('given as %j are left out', (raw) => {
		expect(readFields(readerOf({ name: 'M', additionalFields: raw }), fields)).toEqual({
			name: 'M',
		});
	});
});

describe('fixed collections', () => {
	it('with one group become one object', () => {
		const parameters = { filters: { order: { values: { column: 'title', direction: 'ASC' } } } };
		const { fields } = bodyOf('conversation', 'search');
		expect(readFields(readerOf(parameters), fields)).toEqual({
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
		expect(readFields(readerOf(parameters), [pagesField, chunksField])).toEqual({
			pages: [{ pageContent: 'one' }, { pageContent: '2' }],
			chunks: [{ pageContent: 'c', metadata: { k: 1 }, parent: { id: 'p' } }],
		});
	});

	it.each([{}, undefined, '', { other: [] }])('without a group, %j, are left out', (raw) => {
		expect(readFields(readerOf({ pages: raw }), [pagesField])).toEqual({});
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
			readFields(readerOf({ filters: { where: '{"threadId": }' } }, 3), [
				fieldCollection('filters', [field('json', { name: 'where', displayName: 'Where' })]),
			]),
		);
		expect(error.message).toMatch(/^"Where" must be JSON \(.+\), but is ".+" \[item 3\]$/);
		expect(error.message.replace(/\(.+\)/, '')).not.toMatch(EMPTY_WORDS);
	});
});

describe('JSON', () => {
	it('gives back every value, as text and as it is', () => {
		const reader = readerOf({});
		fc.assert(
			fc.property(fc.jsonValue(), (value) => {
				const text = JSON.stringify(value);
				expect(readJson(reader, 'JSON Body', text)).toEqual(JSON.parse(text));
			}),
		);
	});
});

describe('a number parameter', () => {
	const schema = z.number().int().min(1);

	it.each([
		[{ limit: 5 }, 5],
		[{ limit: '5' }, 5],
		[{}, 50],
	])('in %j is %i', (parameters, value) => {
		expect(readNumber(readerOf(parameters), 'limit', 'Limit', schema, 50)).toBe(value);
	});

	it.each([
		[0, 'must be at least 1'],
		[2.5, 'must be a whole number'],
		['many', 'must be a number'],
		['', 'must be a number'],
	])('%j is refused by its name', (limit, demand) => {
		const { message } = thrownBy(() =>
			readNumber(readerOf({ limit }, 1), 'limit', 'Limit', schema, 50),
		);
		expect(message).toContain(`"Limit" ${demand}`);
		expect(message).toContain('[item 1]');
	});

	it.each([Infinity, -Infinity, NaN, 'Infinity'])(
		'%p is refused, also where there is no upper limit',
		(minutes) => {
			const reader = readerOf({ minutes });
			expect(() => readNumber(reader, 'minutes', 'Minutes', z.number(), 5)).toThrow(
				/^"Minutes" must be a number, but is .*(Infinity|NaN)/,
			);
		},
	);
});

describe('a switch', () => {
	const read = (all: unknown, byDefault = false) =>
		readSwitch(readerOf({ all }, 1), 'all', 'Return All', byDefault);

	it.each([
		[true, true],
		[false, false],
		['true', true],
		['false', false],
	])('given as %j is %s', (raw, value) => expect(read(raw, !value)).toBe(value));

	it.each([undefined, null])('that an expression gives %j stays as it is by default', (raw) => {
		expect([read(raw, true), read(raw, false)]).toEqual([true, false]);
	});

	it.each(['maybe', '', 7, ['true'], {}])('given as %j is refused by its name', (raw) => {
		const { message } = thrownBy(() => read(raw));
		expect(message).toMatch(/^"Return All" must be true or false, but is .* \[item 1\]$/);
	});
});

describe('an id', () => {
	const idOf = (threadId: unknown) => readId(readerOf({ threadId }, 2), 'threadId', 'Thread');

	it.each([
		['t-1', 't-1'],
		['  t-1\n', 't-1'],
		[17, '17'],
		[{ __rl: true, mode: 'id', value: ' t-1 ' }, 't-1'],
		[{ __rl: true, mode: 'list', value: 5 }, '5'],
		['any text/with ? marks', 'any text/with ? marks'],
		['...', '...'],
		['😀', '😀'],
	])('%j is %s', (raw, id) => expect(idOf(raw)).toBe(id));

	it.each([
		['', 'must not be empty'],
		[' \n', 'must not be empty'],
		[null, 'must not be empty'],
		[undefined, 'must not be empty'],
		[{ __rl: true, mode: 'id', value: '' }, 'must not be empty'],
		[{ __rl: true, mode: 'id', value: null }, 'must not be empty'],
		['.', 'must be an ID'],
		[' .. ', 'must be an ID'],
		['a\ud800b', 'must be an ID'],
		['\udc00', 'must be an ID'],
		[{ id: 'x' }, 'must be text'],
		[['x'], 'must be text'],
		[true, 'must be text'],
	])('%j is refused', (raw, demand) => {
		const { message } = thrownBy(() => idOf(raw));
		expect(message).toMatch(new RegExp(`^"Thread" ${demand}.* \\[item 2\\]$`));
		expect(message).not.toMatch(EMPTY_WORDS);
	});
});
