import { DateTime } from 'luxon';
import type { INodeProperties } from 'n8n-workflow';

import { issueMessage } from '../../../../nodes/XpertAi/execution/inputIssues';
import type { Refuse } from '../../../../nodes/XpertAi/execution/inputIssues';
import { fieldCollection, rowsField } from '../../../../nodes/XpertAi/execution/fields';
import { fieldValues, utcText } from '../../../../nodes/XpertAi/execution/values';
import { chunksField, pagesField } from '../../support/rows';
import { bodyOf } from '../../support/operations';
import { EMPTY_WORDS, thrownBy } from '../../support/thrown';

const refuse: Refuse = (flaw) => {
	throw new Error(issueMessage(flaw));
};

/** The values of fields, off what n8n gives for them. */
const valuesOf = (fields: INodeProperties[], raw: Record<string, unknown>) =>
	fieldValues(refuse, fields, raw);

const field = (type: INodeProperties['type'], more: Partial<INodeProperties> = {}) =>
	({ displayName: 'A Field', name: 'a', type, default: '', ...more }) as INodeProperties;

/** What one field of a type makes of a raw value. */
const readOne = (type: INodeProperties['type'], raw: unknown, more?: Partial<INodeProperties>) =>
	valuesOf([field(type, more)], { a: raw });

const knowledgebase = bodyOf('knowledgebase', 'create').fields;
const search = bodyOf('conversation', 'search').fields;
const EMBEDDING = { copilotId: 'c', model: 'm' };

describe('collections', () => {
	const more = (additionalFields: unknown) => ({ name: 'M', additionalFields });

	it.each<[INodeProperties[], Record<string, unknown>, object]>([
		[knowledgebase, more({ permission: 'public' }), { name: 'M', permission: 'public' }],
		[knowledgebase, more({ recall: { topK: '7' } }), { name: 'M', recall: { topK: 7 } }],
		[
			knowledgebase,
			more({ integrationId: '', copilotModel: { copilotId: '', model: 5 } }),
			{ name: 'M', copilotModel: { model: '5' } },
		],
		[knowledgebase, { ...more({ ofAnOlderVersion: 1 }), other: 2 }, { name: 'M' }],
		...[undefined, null, '', {}, []].map(
			(nothing) => [knowledgebase, more(nothing), { name: 'M' }] as never,
		),
		[
			knowledgebase,
			more({ copilotModel: JSON.stringify(EMBEDDING) }),
			{ name: 'M', copilotModel: EMBEDDING },
		],
		[
			knowledgebase,
			more(JSON.stringify({ copilotModel: EMBEDDING })),
			{ name: 'M', copilotModel: EMBEDDING },
		],
		[
			search,
			{ filters: { order: { values: { column: 'title', direction: 'ASC' } } } },
			{ order: { column: 'title', direction: 'ASC' } },
		],
		[
			[pagesField],
			{ pages: { values: [{ pageContent: 'one' }, { pageContent: 2, additionalFields: {} }] } },
			{ pages: [{ pageContent: 'one' }, { pageContent: '2' }] },
		],
		[
			[chunksField],
			{ chunks: { values: [{ additionalFields: { metadata: '{"k":1}', parent: '{"id":"p"}' } }] } },
			{ chunks: [{ metadata: { k: 1 }, parent: { id: 'p' } }] },
		],
		...[{}, undefined, '', { other: [] }, { values: [{}, { pageContent: '' }] }].map(
			(nothing) => [[pagesField], { pages: nothing }, {}] as never,
		),
	])('(%#) with %j give %j', (fields, raw, values) => {
		expect(valuesOf(fields, raw)).toEqual(values);
	});

	it.each([
		['text', /^"Embedding Model" must be JSON \(.+\), but is "text"$/],
		['[1]', /^"Embedding Model" must be an object \(JSON\), but is "\[1\]"$/],
		[7, /^"Embedding Model" must be an object \(JSON\), but is 7$/],
	])('given as %j are refused: servers drop what is no object', (copilotModel, words) => {
		const act = () => valuesOf(knowledgebase, more({ copilotModel }));
		expect(thrownBy(act).message).toMatch(words);
	});
});

describe('single fields', () => {
	it.each([
		['number', '7', 7],
		['number', ' 0.5 ', 0.5],
		['number', '1e3', 1000],
		['number', -3, -3],
		['number', 0, 0],
		['boolean', false, false],
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

	it('keep to the maximum that the editor shows', () => {
		const most = { typeOptions: { maxValue: 20 } };
		expect(readOne('number', '20', most)).toEqual({ a: 20 });
		const words = '"A Field" must be at most 20, but is "21"';
		expect(thrownBy(() => readOne('number', '21', most)).message).toBe(words);
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
		const where = fieldCollection('filters', [field('json', { displayName: 'Where' })]);
		const { message } = thrownBy(() => valuesOf([where], { filters: { a: '{"threadId": }' } }));
		expect(message).toMatch(/^"Where" must be JSON \(.+\), but is ".+"$/);
		expect(message.replace(/\(.+\)/, '')).not.toMatch(EMPTY_WORDS);
		const rows = rowsField('rows', 'Rows', '', 'Row', [field('json')]);
		const inRow = thrownBy(() => valuesOf([rows], { rows: { values: [{ a: '{' }] } }));
		expect(inRow.message).toMatch(/^"A Field" in "Rows" must be JSON \(.+\), but is "\{"$/);
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
