import fc from 'fast-check';
import { attempt, cloneDeep, isError } from 'lodash';
import { DateTime } from 'luxon';
import type { INodeParameters, INodeProperties, NodeOperationError } from 'n8n-workflow';
import { z } from 'zod';

import { type Naming, Reader, constantPart } from 'nodes/XpertAi/execution/userInput';
import {
	fieldCollection,
	numberField,
	optionsField,
	rowsField,
	simplify,
	textField,
} from 'nodes/XpertAi/execution/fields';
import { submitFields } from 'nodes/XpertAi/operations/document/submit/fields';
import { DOCUMENT_NAMING } from 'nodes/XpertAi/operations/document/submit/sources';
import { document } from 'nodes/XpertAi/payloads/document';
import { finite, uuid } from 'nodes/XpertAi/payloads/common';
import { knowledgebase } from 'nodes/XpertAi/payloads/knowledgebase';
import { itemOf } from '../../support/context';
import { node } from '../../support/node';
import { bodyOf } from '../../support/operations';
import { chunksField, pagesField } from '../../support/rows';
import { EMPTY_WORDS, thrownBy } from '../../support/thrown';

const item = itemOf({});

/** The message for a value that is held against a schema. */
const messageOf = (schema: z.ZodTypeAny, value: unknown, naming: Naming): string =>
	thrownBy(() => item.check(schema, value, naming)).message;

/** The message for a value that is to be sent as JSON. */
const refusal = (value: unknown, naming: Naming = {}): string =>
	thrownBy(() => item.jsonText(value, naming)).message;

const UUID = 'a UUID such as 123e4567-e89b-42d3-a456-426614174000';

describe('the message for a field', () => {
	it.each<[string, unknown, string]>([
		['knowledgebase create', {}, '"Name" is missing'],
		['knowledgebase create', { name: '' }, '"Name" must not be empty, but is ""'],
		[
			'knowledgebase create',
			{ name: 'a', recall: { topK: 2.5 } },
			'"Top K" in "Recall" must be a whole number, but is 2.5',
		],
		[
			'knowledgebase create',
			{ name: 'a', permission: 'Private', recall: { topK: 'y' } },
			'"Permission" must be one of private, organization, public, but is "Private"',
		],
		[
			'knowledgebase update',
			{ workspaceId: 'main' },
			`"Workspace ID" must be ${UUID}, but is "main"`,
		],
		[
			'knowledgebase update',
			{ recall: { score: 1 / 0 } },
			'"Score" in "Recall" must be a number, but is Infinity',
		],
		[
			'knowledgebase update',
			{ parserConfig: { chunkSize: [500] } },
			'"Chunk Size" in "Parser Config" must be a number, but is [500]',
		],
		['chatSession create', { assistant: { id: 5 } }, '"Assistant" must be text, but is 5'],
		[
			'store searchItems',
			{ namespace_prefix: ['a', 5] },
			'"Namespace Prefix" must be text, but is 5',
		],
	])('of %s in %j is: %s', (operation, body, message) => {
		const [resource = '', name = ''] = operation.split(' ');
		const { schema, fields, fieldByPath } = bodyOf(resource, name);
		expect(messageOf(schema, body, { fields, fieldByPath })).toBe(message);
		expect(message).not.toMatch(EMPTY_WORDS);
	});

	const PARTS = { fields: [pagesField, chunksField] };
	const DATE = 'an ISO 8601 date-time such as 2026-01-31T08:00:00Z';

	it.each<[unknown, Naming, string]>([
		[{ pages: [{ pageContent: 1 }] }, PARTS, '"Content" in "Pages" must be text, but is 1'],
		[
			{ chunks: [{ createdAt: 'x' }] },
			PARTS,
			`"Created At" in "Chunks" must be ${DATE}, but is "x"`,
		],
		[{ size: 'big' }, PARTS, '"size" must be a number, but is "big"'],
		[{ size: 'big' }, DOCUMENT_NAMING, '"Size" must be a number, but is "big"'],
		[
			{ parserConfig: { chunkSize: 'big' } },
			DOCUMENT_NAMING,
			'"Chunk Size" in "Parser Config" must be a number, but is "big"',
		],
		[5, { fields: [], additional: {} }, '"Fields" must be an object (JSON), but is 5'],
		[
			{ parserConfig: { chunkSize: 'big' } },
			{ fields: [], fieldByPath: { parserConfig: 'all' } },
			'"all.chunkSize" must be a number, but is "big"',
		],
		// A name that every object inherits is no name of a field.
		[{ size: 'big' }, { fields: [], fieldByPath: {} }, '"size" must be a number, but is "big"'],
	])('of a document %j is (%#): %s', (body, naming, message) => {
		expect(messageOf(document, body, naming)).toBe(message);
	});

	it.each(['constructor', 'toString', 'valueOf'])('is not misled by a key called %s', (key) => {
		const naming = { fields: [pagesField], fieldByPath: {} };
		const schema = z.object({ [key]: z.number() });
		expect(messageOf(schema, { [key]: 'x' }, naming)).toBe(`"${key}" must be a number, but is "x"`);
	});
});

describe('the message for a JSON body', () => {
	const naming = { parameter: 'JSON Body' };
	const documents = z.array(document);

	it.each([
		[documents, 5, ' must be a list (JSON array), but is 5'],
		[documents, null, ' must be a list (JSON array), but is null'],
		[documents, [5], ' at [0] must be an object (JSON), but is 5'],
		[documents, [{}, { size: 'x' }], ' at [1].size must be a number, but is "x"'],
		[documents, [{ pages: [{ status: 1 }] }], ' at [0].pages[0].status must be text, but is 1'],
		[
			knowledgebase,
			{ name: 'a', recall: { topK: '5' } },
			' at recall.topK must be a number, but is "5"',
		],
		[z.array(z.string()).min(1), [], ' must not be empty, but is []'],
		[z.number().min(1), 0, ' must be at least 1, but is 0'],
		[z.number().max(9), 10, ' must be at most 9, but is 10'],
		[z.number().positive(), 0, ' must be more than 0, but is 0'],
		[z.number().int(), Infinity, ' must be a whole number, but is Infinity'],
		[z.boolean(), 'maybe', ' must be true or false, but is "maybe"'],
	])('(%#) of %j is: %s', (schema, body, message) => {
		expect(messageOf(schema, body, naming)).toBe(`"JSON Body"${message}`);
	});

	it('cuts a long value', () => {
		for (const value of ['long '.repeat(1000), ['long '.repeat(1000)]]) {
			const message = messageOf(z.number(), value, naming);
			expect(message).toMatch(/but is \[?"long long .{60,80}$/);
			expect(message.length).toBeLessThan(160);
		}
	});
});

it('an ID in JSON is not told to be pasted as an address, which only its field takes', () => {
	const schema = z.object({ storageFileId: uuid });
	const error = thrownBy(() => item.check(schema, { storageFileId: 'a' })) as NodeOperationError;
	expect(error.message).toBe(`"JSON Body" at storageFileId must be ${UUID}, but is "a"`);
	expect(error.description).toContain('Correct the value, or the expression');
});

describe('what JSON cannot hold', () => {
	const HALF =
		'holds half of a character, as a text does that was cut in the middle of an emoji: cut it elsewhere';

	it.each(['\ud83d', 'cut \ud83d', '\ude00\ud83d'])('is half of a character: %j', (text) => {
		expect(refusal({ a: [{ text }] })).toBe(`"JSON Body" at a[0].text ${HALF}`);
		expect(refusal({ name: text }, DOCUMENT_NAMING)).toBe(`"Name" ${HALF}`);
		const inName = `"Document Fields" has a field whose name ${HALF}`;
		expect(refusal({ [text]: 1 }, DOCUMENT_NAMING)).toBe(inName);
	});

	it.each([Infinity, -Infinity, NaN])('is the number %p', (number) => {
		const words = `must be a number, but is ${number}`;
		expect(refusal({ where: { all: [1, { size: number }] } })).toBe(
			`"JSON Body" at where.all[1].size ${words}`,
		);
		expect(refusal(number)).toBe(`"JSON Body" ${words}`);
		const metadata = { values: [number] };
		expect(refusal({ metadata }, DOCUMENT_NAMING)).toBe(`"values[0]" in "Metadata" ${words}`);
	});

	it('is a value of many levels', () => {
		let deep: unknown = 'x';
		for (let level = 0; level < 20_000; level++) deep = { a: deep };
		const rule = 'is nested too deeply or too long to be sent';
		expect(refusal({ fine: 1, missing: undefined, deep })).toBe(`"JSON Body" at deep ${rule}`);
	});

	it('is named where it stands first', () => {
		const value = { a: [1, { b: NaN }], c: Infinity };
		expect(refusal(value)).toBe('"JSON Body" at a[1].b must be a number, but is NaN');
	});

	it('is nothing else, and of a date only what is written of it', () => {
		const date = { inside: NaN, toJSON: () => '2026-01-31' };
		const looksLike = fc.constantFrom<unknown>('😀', '\\ud83d', 'null', null, new Date(0), date);
		fc.assert(
			fc.property(fc.jsonValue(), looksLike, (json, like) => {
				const value = { json, like };
				expect(item.jsonText(value)).toBe(JSON.stringify(value));
				expect(item.check(z.unknown(), value)).toBe(value);
			}),
		);
	});
});

it.each([
	['x is not defined', /^x is not defined$/],
	['Maximum call stack size exceeded', /^"Text" is nested too deeply$/],
])('an expression that fails with "%s" is an error', (thrown, message) => {
	const resolve = () => {
		throw new Error(thrown);
	};
	const read = new Reader(node, submitFields, resolve, 'Nothing was sent.');
	expect(() => read.parameter('text')).toThrow(message);
});

/** What is said of a text that stands in a field as Fixed. */
const saidOf = (text: unknown, name = 'text') => {
	const parameters = { [name]: text } as INodeParameters;
	const read = new Reader({ ...node, parameters }, submitFields, () => 'a', 'Nothing was sent.');
	const error: unknown = attempt(() => read.parameter(name));
	return isError(error) ? error.message.replace(/ is Fixed .*/, '') : undefined;
};

describe('a Fixed text', () => {
	it.each([
		'{{ $json.text }}',
		'Dear {{$json["name"]}}, welcome',
		'{{ $("Get Rows").item.json.id }}',
		"{{ $('a b').first().json.x }}",
		'{{ $now.toISO() }}',
		'{{ "a" + $input.first().json.x }}',
		'{{ $fromAI("key") }}',
		'{{ $node["A"].json.x }}',
		'{{ $itemIndex }}',
		'{{ $vars.host }}/{{ $execution.id }}',
		'{{ $executionId }}',
		'{{ $data.text }}',
		'{{ $nodeVersion }}',
		'{{ $jmespath({ a: 1 }, "a") }}',
		'{{ $if(true, "a", "b") }}',
		'{{ $ifEmpty("", "a") }}',
		'{{ $max(1, 2) }}',
		'{{ $min(1, 2) }}',
		'{{ $agentInfo.tools }}',
		'{{ $getPairedItem("a") }}',
		'{{ $fromai("key") }}',
		'{ "a": "{{ $json.a }}" }',
		'{{ name }} {{ $json.name }}',
		'$json.text',
		" $('Get Rows').item.json.id ",
	])('holds an expression: %s', (text) => expect(saidOf(text)).toBe('"Text"'));

	it.each([
		'/repo/{{cookiecutter.slug}}/readme.md',
		'How {{ placeholders }} work',
		'{{ .Values.image }} costs $5',
		'{{ $labels.instance }} is down',
		'{{ $t("hello") }}',
		'{{ $jsonld }}',
		'Write {{ and $json.text',
		'Close $json.text with }}',
		'$json.text is what an item holds',
		'US$json',
		'$data.csv',
		"$('#menu').hide()",
		'={{ $json.text }}',
		'',
		undefined,
		5,
	])('holds none: %s', (text) => expect(saidOf(text)).toBeUndefined());

	const LEFT = '{{ $json.x }}';
	const locator = (value: string) => ({ __rl: true, mode: 'list', value, cachedResultName: LEFT });

	it.each<[string, unknown, string | undefined]>([
		['documentSettings', { name: LEFT }, '"Name" in "Document Settings"'],
		['documentSettings', { metadata: `{"a": "${LEFT}"}` }, '"Metadata" in "Document Settings"'],
		[
			'documentSettings',
			{ metadataRows: { values: [{}, { content: LEFT }] } },
			'"Value" in "Metadata Rows" in "Document Settings"',
		],
		['documentFields', { value: { name: LEFT } }, '"name" in "Document Fields"'],
		['knowledgebaseId', locator(LEFT), '"Knowledgebase"'],
		// What a locator shows of what was chosen may be any text.
		['knowledgebaseId', locator('x'), undefined],
	])('in %s %j is named: %s', (name, value, field) => expect(saidOf(value, name)).toBe(field));
});

it('a Fixed text with an expression is refused with a way out', () => {
	const text = '{{ $json.text }}';
	expect(thrownBy(() => itemOf({ text }, { fields: submitFields }).text('text'))).toMatchObject({
		message: '"Text" is Fixed and holds an expression: switch it to Expression',
		description: expect.stringContaining('Fixed and Expression stand above the field.'),
	});
});

it.each([
	['={{ $json.a }}', ''],
	['=a {{ $json.a }}-{{ $json.b }}b', 'a -b'],
	['=a{{}}b', 'ab'],
	['=a', ''],
])('%s says %j where its braces give nothing', (expression, said) => {
	expect(constantPart(expression)).toBe(said);
});

/** The values of fields, off what n8n gives for them. */
const valuesOf = (fields: INodeProperties[], raw: Record<string, unknown>) =>
	// Its schema is kept with each field; new ones have none yet.
	itemOf(raw, { fields }).values(cloneDeep(fields));

const field = (type: INodeProperties['type'], more: Partial<INodeProperties> = {}) =>
	({ displayName: 'A Field', name: 'a', type, default: '', ...more }) as INodeProperties;

/** What one field of a type makes of a raw value. */
const readOne = (type: INodeProperties['type'], raw: unknown, more?: Partial<INodeProperties>) =>
	valuesOf([field(type, more)], { a: raw });

const created = bodyOf('knowledgebase', 'create').fields;
const ID = '335ccdfa-d2bb-4f15-9f4a-2b180f46d737';
const search = bodyOf('conversation', 'search').fields;
const EMBEDDING = { copilotId: ID, model: 'm' };

describe('collections', () => {
	const more = (additionalFields: unknown) => ({ name: 'M', additionalFields });

	it.each<[INodeProperties[], Record<string, unknown>, object]>([
		[created, more({ permission: 'public' }), { name: 'M', permission: 'public' }],
		[created, more({ recall: { topK: '7' } }), { name: 'M', recall: { topK: 7 } }],
		[
			created,
			more({ integrationId: '', copilotModel: { copilotId: '', model: 5 } }),
			{ name: 'M', copilotModel: { model: '5' } },
		],
		[created, { ...more({ ofAnOlderVersion: 1 }), other: 2 }, { name: 'M' }],
		[created, more({ recall: { topK: '', score: null }, parserConfig: {} }), { name: 'M' }],
		[created, more({ recall: { topK: '', score: 1 } }), { name: 'M', recall: { score: 1 } }],
		...[undefined, null, '', {}, [], '[]'].map(
			(nothing) => [created, more(nothing), { name: 'M' }] as never,
		),
		[
			created,
			more({ copilotModel: JSON.stringify(EMBEDDING) }),
			{ name: 'M', copilotModel: EMBEDDING },
		],
		[
			created,
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
		const act = () => valuesOf(created, more({ copilotModel }));
		expect(thrownBy(act).message).toMatch(words);
		const whole = () => valuesOf(created, more(copilotModel));
		const { message } = thrownBy(whole);
		expect(message.replace('Additional Fields', 'Embedding Model')).toMatch(words);
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
		['number', ' ', ' '],
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
		['json', '\ufeff{"a": 1}', { a: 1 }],
		['json', { already: 'parsed' }, { already: 'parsed' }],
		['json', [1], [1]],
		['json', '5', 5],
		['resourceLocator', { __rl: true, mode: 'id', value: ID }, ID],
		['resourceLocator', ID, ID],
	] as Array<[INodeProperties['type'], unknown, unknown]>)(
		'of the type %s read %j as %j',
		(type, raw, value) => expect(readOne(type, raw)).toEqual({ a: value }),
	);

	it.each(['string', 'number', 'json', 'resourceLocator', 'boolean'] as const)(
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
		const words = '"A Field" must be a list (JSON array), but is "x"';
		expect(thrownBy(() => readOne('multiOptions', 'x')).message).toBe(words);
		const several = { typeOptions: { multipleValues: true } };
		expect(readOne('string', ['a', 'b'], several)).toEqual({ a: ['a', 'b'] });
	});

	it('write a date as ISO 8601', () => {
		const date = new Date('2026-01-31T08:00:00Z');
		const berlin = DateTime.fromISO('2026-01-31T09:00:00', { zone: 'Europe/Berlin' });
		expect(readOne('string', date)).toEqual({ a: '2026-01-31T08:00:00.000Z' });
		expect(readOne('string', berlin)).toEqual({ a: '2026-01-31T09:00:00.000+01:00' });
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

const fields: INodeProperties[] = [
	simplify,
	{
		...textField('threadId', 'Thread'),
		type: 'resourceLocator',
		default: { mode: 'id', value: '' },
	},
	{ ...textField('tags', 'Tags'), type: 'multiOptions', options: [], default: ['a', 'b'] },
	optionsField([
		numberField('minutes', 'Minutes', undefined, { default: 15 }),
		textField('title', 'Title', undefined, { default: 'Untitled' }),
		textField('key', 'Key'),
	]),
];

const schema = z.object({
	simplify: z.boolean(),
	threadId: z.string().optional(),
	tags: z.array(z.string()),
	options: z.object({ minutes: finite.min(1), title: z.string().trim(), key: z.string() }),
});

const read = (parameters: Record<string, unknown>) =>
	itemOf(parameters, { fields }).settings(schema);

const OPTIONS = { minutes: 15, title: 'Untitled', key: '' };
const BY_DEFAULT = { simplify: true, tags: ['a', 'b'], options: OPTIONS };

describe('settings', () => {
	it.each<[Record<string, unknown>, object]>([
		[{}, {}],
		[{ options: {} }, {}],
		...[undefined, null, ''].flatMap(
			(nothing): Array<[Record<string, unknown>, object]> => [
				[{ simplify: nothing, tags: undefined, options: { minutes: nothing, title: nothing } }, {}],
				[{ options: nothing }, {}],
			],
		),
		[
			{ simplify: 'false', tags: ['c'] },
			{ simplify: false, tags: ['c'] },
		],
		[{ threadId: { mode: 'id', value: ' 7 ' } }, { threadId: '7' }],
		[{ options: { title: ' 5 ' } }, { options: { ...OPTIONS, title: '5' } }],
		[{ options: '{"minutes": 3}' }, { options: { ...OPTIONS, minutes: 3 } }],
	])('in %j are %j', (parameters, expected) => {
		expect(read(parameters)).toEqual({ ...BY_DEFAULT, ...expected });
	});

	it.each([
		[{ options: { minutes: 0 } }, '"Minutes" in "Options" must be at least 1, but is 0'],
		[{ options: { minutes: 1 / 0 } }, '"Minutes" in "Options" must be a number, but is Infinity'],
		[{ options: { title: {} } }, '"Title" in "Options" must be text, but is {}'],
		[{ options: [1] }, '"Options" must be an object (JSON), but is [1]'],
		[{ simplify: 'perhaps' }, '"Simplify" must be true or false, but is "perhaps"'],
	])('in %j are refused: %s', (parameters, message) => {
		expect(thrownBy(() => read(parameters)).message).toBe(message);
	});
});

describe('a setting of two items', () => {
	const minutes = numberField('minutes', 'Minutes', undefined, { default: 15 });
	const name = textField('name', 'Name', undefined, { default: '={{ $json.name }}' });
	const settings = [optionsField([minutes, textField('title', 'Title')]), name];

	/** How often n8n is asked, where each item reads the setting in these ways, and what they get. */
	function readings(parameters: INodeParameters, ways: Array<(item: Reader) => unknown>) {
		const own = { ...node, parameters };
		let asked = 0;
		const items = [0, 1].map(
			(index) => new Reader(own, settings, () => (asked += 1), 'Nothing was sent.', index),
		);
		return { values: items.map((one) => ways.map((way) => way(one))), asked };
	}

	const ofOptions = (one: Reader) => one.setting('options.minutes', finite);
	const named = (one: Reader) => one.text('name');

	it.each<[string, INodeParameters, (item: Reader) => unknown, number]>([
		['once, with a value', { options: { minutes: 3 } }, ofOptions, 1],
		['once, where it is not given', {}, ofOptions, 1],
		['for each, with an expression', { options: { minutes: '={{ 1 }}' } }, ofOptions, 2],
		[
			'for each, beside an expression',
			{ options: { minutes: 3, title: '={{ 1 }}' } },
			ofOptions,
			2,
		],
		['for each, with an expression for all of them', { options: '={{ {} }}' }, ofOptions, 2],
		['once, with a text', { name: 'a' }, named, 1],
		[
			'for each, with a default that is an expression',
			{},
			(one) => one.setting('name', z.any()),
			2,
		],
	])('is read %s', (_, parameters, way, times) => {
		const { asked, values } = readings(parameters, [way]);
		expect(asked).toBe(times);
		expect(values.flat().map(Number)).toEqual(times === 1 ? [1, 1] : [1, 2]);
	});

	it('is read anew with another schema, or another initial value', () => {
		const other = finite.transform((value) => value * 10);
		const { values } = readings({}, [
			ofOptions,
			(one) => one.setting('options.minutes', other),
			(one) => one.setting('options.minutes', other, 5),
		]);
		expect(values[0]).toEqual([1, 20, 30]);
	});

	it('is refused for each item that reads it', () => {
		const strict = finite.max(0);
		const refused = (one: Reader) => thrownBy(() => one.setting('options.minutes', strict)).message;
		expect(readings({}, [refused]).values.flat()).toEqual([
			'"Minutes" in "Options" must be at most 0, but is 1',
			'"Minutes" in "Options" must be at most 0, but is 2',
		]);
	});
});
