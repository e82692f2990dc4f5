import fc from 'fast-check';
import { attempt, cloneDeep, isError, omit } from 'lodash';
import { DateTime } from 'luxon';
import type { INodeParameters, INodeProperties, NodeOperationError } from 'n8n-workflow';
import {
	panelGroupField,
	numberField,
	optionsField,
	rowsField,
	simplifySwitch,
	textField,
} from 'nodes/XpertAi/execution/fieldBuilders';
import type { FieldNaming } from 'nodes/XpertAi/execution/issueText';
import { ParameterReader } from 'nodes/XpertAi/execution/parameterReader';
import { submitFields } from 'nodes/XpertAi/operations/document/submit/fields';
import { DOCUMENT_FIELD_NAMING } from 'nodes/XpertAi/operations/document/submit/sources/columns';
import { finiteNumber } from 'nodes/XpertAi/payloads/zodHelpers';
import { uuidSchema } from 'nodes/XpertAi/payloads/ids';
import { documentSchema } from 'nodes/XpertAi/payloads/document';
import { newKnowledgebaseSchema } from 'nodes/XpertAi/payloads/knowledgebase';
import { z } from 'zod';

import { itemOf } from '../../support/context';
import { node } from '../../support/node';
import { bodyOf } from '../../support/operations';
import { chunksField, pagesField } from '../../support/rows';
import { EMPTY_WORDS, thrownBy } from '../../support/thrown';

const item = itemOf({});

/** The message for a value that is held against a schema. */
const messageOf = (schema: z.ZodTypeAny, value: unknown, naming: FieldNaming): string =>
	thrownBy(() => item.check(schema, value, naming)).message;

/** The message for a value that is to be sent as JSON. */
const refusal = (value: unknown, naming: FieldNaming = {}): string =>
	thrownBy(() => item.toJsonText(value, naming)).message;

const UUID = 'a UUID such as 123e4567-e89b-42d3-a456-426614174000';

describe('the message for a field', () => {
	it.each<[string, string, unknown]>([
		['knowledgebase create', '"Name" is missing', {}],
		['knowledgebase create', '"Name" must not be empty, but is ""', { name: '' }],
		[
			'knowledgebase create',
			'"Top K" in "Recall" must be a whole number, but is 2.5',
			{ name: 'a', recall: { topK: 2.5 } },
		],
		[
			'knowledgebase create',
			'"Permission" must be one of private, organization, public, but is "Private"',
			{ name: 'a', permission: 'Private', recall: { topK: 'y' } },
		],
		[
			'knowledgebase update',
			`"Workspace ID" must be ${UUID}, but is "main"`,
			{ workspaceId: 'main' },
		],
		[
			'knowledgebase update',
			'"Score" in "Recall" must be a number, but is Infinity',
			{ recall: { score: 1 / 0 } },
		],
		[
			'knowledgebase update',
			'"Chunk Size" in "Parser Config" must be a number, but is [500]',
			{ parserConfig: { chunkSize: [500] } },
		],
		['chatSession create', '"Assistant" must be text, but is 5', { assistant: { id: 5 } }],
		[
			'store searchItems',
			'"Namespace Prefix" must be text, but is 5',
			{ namespace_prefix: ['a', 5] },
		],
	])('of %s is: %s', (operation, message, body) => {
		const [resource = '', name = ''] = operation.split(' ');
		const { schema, fields, fieldByPath } = bodyOf(resource, name);
		expect(messageOf(schema, body, { fields, fieldByPath })).toBe(message);
		expect(message).not.toMatch(EMPTY_WORDS);
	});

	const PARTS = { fields: [pagesField, chunksField] };
	const DATE = 'an ISO 8601 date-time such as 2026-01-31T08:00:00Z';

	it.each<[string, unknown, FieldNaming, string]>([
		[
			'in a row of pages',
			{ pages: [{ pageContent: 1 }] },
			PARTS,
			'"Content" in "Pages" must be text, but is 1',
		],
		[
			'in a row of chunks',
			{ chunks: [{ createdAt: 'x' }] },
			PARTS,
			`"Created At" in "Chunks" must be ${DATE}, but is "x"`,
		],
		[
			'in a list in JSON',
			{ pages: [{ pageContent: 'a' }, { pageContent: 1 }] },
			{ fields: [{ displayName: 'Pages', name: 'pages', type: 'json', default: '' }] },
			'"[1].pageContent" in "Pages" must be text, but is 1',
		],
		[
			'without a field in the editor',
			{ size: 'big' },
			PARTS,
			'"size" must be a number, but is "big"',
		],
		[
			'under the name of its field',
			{ size: 'big' },
			DOCUMENT_FIELD_NAMING,
			'"Size" must be a number, but is "big"',
		],
		[
			'in a group under the name of its field',
			{ parserConfig: { chunkSize: 'big' } },
			DOCUMENT_FIELD_NAMING,
			'"Chunk Size" in "Parser Config" must be a number, but is "big"',
		],
		[
			'that is no object',
			5,
			{ fields: [], additionalJson: {} },
			'"Fields" must be an object (JSON), but is 5',
		],
		[
			'by a path of the request',
			{ parserConfig: { chunkSize: 'big' } },
			{ fields: [], fieldByPath: { parserConfig: 'all' } },
			'"all.chunkSize" must be a number, but is "big"',
		],
		// A name that every object inherits is no name of a field.
		[
			'without a name for its path',
			{ size: 'big' },
			{ fields: [], fieldByPath: {} },
			'"size" must be a number, but is "big"',
		],
	])('of a document %s is right', (_, body, naming, message) => {
		expect(messageOf(documentSchema, body, naming)).toBe(message);
	});

	it.each(['constructor', 'toString', 'valueOf'])('is not misled by a key called %s', (key) => {
		const naming = { fields: [pagesField], fieldByPath: {} };
		const schema = z.object({ [key]: z.number() });
		expect(messageOf(schema, { [key]: 'x' }, naming)).toBe(`"${key}" must be a number, but is "x"`);
	});
});

describe('the message for a JSON body', () => {
	const naming = { parameterLabel: 'JSON Body' };
	const documents = z.array(documentSchema);

	it.each([
		[' must be a list (JSON array), but is 5', documents, 5],
		[' must be a list (JSON array), but is null', documents, null],
		[' at [0] must be an object (JSON), but is 5', documents, [5]],
		[' at [1].size must be a number, but is "x"', documents, [{}, { size: 'x' }]],
		[' at [0].pages[0].status must be text, but is 1', documents, [{ pages: [{ status: 1 }] }]],
		[
			' at recall.topK must be a number, but is "5"',
			newKnowledgebaseSchema,
			{ name: 'a', recall: { topK: '5' } },
		],
		[' must not be empty, but is []', z.array(z.string()).min(1), []],
		[' must be at least 1, but is 0', z.number().min(1), 0],
		[' must be at most 9, but is 10', z.number().max(9), 10],
		[' must be more than 0, but is 0', z.number().positive(), 0],
		[' must be a whole number, but is Infinity', z.number().int(), Infinity],
		[' must be true or false, but is "maybe"', z.boolean(), 'maybe'],
	])('is: "JSON Body"%s', (message, schema, body) => {
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
	const schema = z.object({ storageFileId: uuidSchema });
	const error = thrownBy(() => item.check(schema, { storageFileId: 'a' })) as NodeOperationError;
	expect(error.message).toBe(`"JSON Body" at storageFileId must be ${UUID}, but is "a"`);
	expect(error.description).toContain('Correct the value, or the expression');
});

describe('what JSON cannot hold', () => {
	const HALF =
		'holds half of a character, as a text does that was cut in the middle of an emoji: cut it elsewhere';

	it.each([
		['alone', '\ud83d'],
		['at the end of a text', 'cut \ud83d'],
		['twice', '\ude00\ud83d'],
	])('is half of a character: %s', (_, text) => {
		expect(refusal({ a: [{ text }] })).toBe(`"JSON Body" at a[0].text ${HALF}`);
		expect(refusal({ name: text }, DOCUMENT_FIELD_NAMING)).toBe(`"Name" ${HALF}`);
		const inName = `"Document Fields" has a field whose name ${HALF}`;
		expect(refusal({ [text]: 1 }, DOCUMENT_FIELD_NAMING)).toBe(inName);
	});

	it.each([Infinity, -Infinity, NaN])('is the number %s', (number) => {
		const words = `must be a number, but is ${number}`;
		expect(refusal({ where: { all: [1, { size: number }] } })).toBe(
			`"JSON Body" at where.all[1].size ${words}`,
		);
		expect(refusal(number)).toBe(`"JSON Body" ${words}`);
		const metadata = { values: [number] };
		expect(refusal({ metadata }, DOCUMENT_FIELD_NAMING)).toBe(`"values[0]" in "Metadata" ${words}`);
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
				expect(item.toJsonText(value)).toBe(JSON.stringify(value));
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
	const read = new ParameterReader(node, submitFields, resolve, 'Nothing was sent.');
	expect(() => read.parameter('text')).toThrow(message);
});

/** What is said of a text that stands in a field as Fixed. */
const saidOf = (text: unknown, name = 'text') => {
	const parameters = { [name]: text } as INodeParameters;
	const read = new ParameterReader(
		{ ...node, parameters },
		submitFields,
		() => 'a',
		'Nothing was sent.',
	);
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
		['braces in a path', '/repo/{{cookiecutter.slug}}/readme.md'],
		['words in braces', 'How {{ placeholders }} work'],
		['a template of Helm', '{{ .Values.image }} costs $5'],
		['a template of Prometheus', '{{ $labels.instance }} is down'],
		['a function of a framework', '{{ $t("hello") }}'],
		['a longer name', '{{ $jsonld }}'],
		['braces that are not closed', 'Write {{ and $json.text'],
		['braces that are not opened', 'Close $json.text with }}'],
		['a sentence that begins with a variable', '$json.text is what an item holds'],
		['a currency', 'US$json'],
		['a variable with the name of a file', '$data.csv'],
		['a call with a selector', "$('#menu').hide()"],
		['an expression as n8n saves it', '={{ $json.text }}'],
		['nothing', ''],
		['no value', undefined],
		['a number', 5],
	])('holds none: %s', (_, text) => expect(saidOf(text)).toBeUndefined());

	const LEFT = '{{ $json.x }}';
	const locator = (value: string) => ({ __rl: true, mode: 'list', value, cachedResultName: LEFT });

	it.each<[string, string, unknown, string | undefined]>([
		[
			'a text of a collection is named',
			'documentSettings',
			{ type: LEFT },
			'"Type" in "Document Settings"',
		],
		[
			'JSON of a collection is named',
			'documentSettings',
			{ metadata: `{"a": "${LEFT}"}` },
			'"Metadata" in "Document Settings"',
		],
		[
			'a row of a collection is named',
			'documentSettings',
			{ metadataRows: { values: [{}, { content: LEFT }] } },
			'"Value" in "Metadata Rows" in "Document Settings"',
		],
		[
			'a mapped field is named',
			'documentFields',
			{ value: { name: LEFT } },
			'"name" in "Document Fields"',
		],
		['a picker is named', 'knowledgebaseId', locator(LEFT), '"Knowledgebase"'],
		// What a locator shows of what was chosen may be any text.
		[
			'what a picker shows of its choice may be anything',
			'knowledgebaseId',
			locator('x'),
			undefined,
		],
	])('in %s', (_, name, value, field) => expect(saidOf(value, name)).toBe(field));
});

it('a Fixed text with an expression is refused with a way out', () => {
	const text = '{{ $json.text }}';
	expect(thrownBy(() => itemOf({ text }, { fields: submitFields }).text('text'))).toMatchObject({
		message: '"Text" is Fixed and holds an expression: switch it to Expression',
		description: expect.stringContaining('Fixed and Expression stand above the field.'),
	});
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

/** What n8n gives for what nobody filled in. */
const NOTHINGS = { 'not there': undefined, null: null, 'an empty text': '', empty: {} };

describe('collections', () => {
	const more = (additionalFields: unknown) => ({ name: 'M', additionalFields });

	it.each<[string, INodeProperties[], Record<string, unknown>, object]>([
		[
			'give what was filled in',
			created,
			more({ permission: 'public' }),
			{ name: 'M', permission: 'public' },
		],
		[
			'give numbers where texts stand for them',
			created,
			more({ recall: { topK: '7' } }),
			{ name: 'M', recall: { topK: 7 } },
		],
		[
			'leave out empty fields of a group',
			created,
			more({ integrationId: '', copilotModel: { copilotId: '', model: 5 } }),
			{ name: 'M', copilotModel: { model: '5' } },
		],
		[
			'leave out what an older version had',
			created,
			{ ...more({ ofAnOlderVersion: 1 }), other: 2 },
			{ name: 'M' },
		],
		[
			'leave out groups of empty fields',
			created,
			more({ recall: { topK: '', score: null }, parserConfig: {} }),
			{ name: 'M' },
		],
		[
			'keep a zero beside an empty field',
			created,
			more({ recall: { topK: '', score: 1 } }),
			{ name: 'M', recall: { score: 1 } },
		],
		...Object.entries({
			...NOTHINGS,
			'an empty list': [],
			'an empty list in JSON': '[]',
		}).map(
			([nothing, value]) =>
				[
					`give nothing where the collection is ${nothing}`,
					created,
					more(value),
					{ name: 'M' },
				] as never,
		),
		[
			'read JSON in place of a group',
			created,
			more({ copilotModel: JSON.stringify(EMBEDDING) }),
			{ name: 'M', copilotModel: EMBEDDING },
		],
		[
			'read JSON in place of the collection',
			created,
			more(JSON.stringify({ copilotModel: EMBEDDING })),
			{ name: 'M', copilotModel: EMBEDDING },
		],
		[
			'give the only row of a group',
			search,
			{ filters: { order: { values: { column: 'title', direction: 'ASC' } } } },
			{ order: { column: 'title', direction: 'ASC' } },
		],
		[
			'give the rows of a list',
			[pagesField],
			{ pages: { values: [{ pageContent: 'one' }, { pageContent: 2, additionalFields: {} }] } },
			{ pages: [{ pageContent: 'one' }, { pageContent: '2' }] },
		],
		[
			'read JSON in a row',
			[chunksField],
			{ chunks: { values: [{ additionalFields: { metadata: '{"k":1}', parent: '{"id":"p"}' } }] } },
			{ chunks: [{ metadata: { k: 1 }, parent: { id: 'p' } }] },
		],
		...Object.entries({
			...NOTHINGS,
			'other rows': { other: [] },
			'rows without a value': { values: [{}, { pageContent: '' }] },
		}).map(
			([nothing, value]) =>
				[`give nothing where the list is ${nothing}`, [pagesField], { pages: value }, {}] as never,
		),
	])('%s', (_, fields, raw, values) => {
		expect(valuesOf(fields, raw)).toEqual(values);
	});

	it.each([
		['text', 'text', /^"Embedding Model" must be JSON \(.+\), but is "text"$/],
		['a list in JSON', '[1]', /^"Embedding Model" must be an object \(JSON\), but is "\[1\]"$/],
		['a number', 7, /^"Embedding Model" must be an object \(JSON\), but is 7$/],
	])('given as %s are refused: servers drop what is no object', (_, copilotModel, words) => {
		const act = () => valuesOf(created, more({ copilotModel }));
		expect(thrownBy(act).message).toMatch(words);
		const whole = () => valuesOf(created, more(copilotModel));
		const { message } = thrownBy(whole);
		expect(message.replace('Additional Fields', 'Embedding Model')).toMatch(words);
	});
});

describe('single fields', () => {
	it.each([
		['number read a whole number as text', 'number', '7', 7],
		['number read a fraction with blanks', 'number', ' 0.5 ', 0.5],
		['number read an exponent', 'number', '1e3', 1000],
		['number keep a negative number', 'number', -3, -3],
		['number keep zero', 'number', 0, 0],
		['boolean keep false', 'boolean', false, false],
		['number keep words, to be refused', 'number', 'seven', 'seven'],
		['number keep blanks, to be refused', 'number', ' ', ' '],
		['boolean read true', 'boolean', 'true', true],
		['boolean read false in capitals', 'boolean', 'FALSE', false],
		['boolean keep true', 'boolean', true, true],
		['boolean keep other words, to be refused', 'boolean', 'maybe', 'maybe'],
		['string make a number text', 'string', 5, '5'],
		['string make a boolean text', 'string', false, 'false'],
		['string keep blanks', 'string', ' a ', ' a '],
		['string keep an object, to be refused', 'string', { an: 'object' }, { an: 'object' }],
		['options keep the choice', 'options', 'x', 'x'],
		['multiOptions keep the choices', 'multiOptions', ['x', 'y'], ['x', 'y']],
		['json read an object', 'json', '{"a": [1, null]}', { a: [1, null] }],
		['json read behind a byte order mark', 'json', '\ufeff{"a": 1}', { a: 1 }],
		['json keep an object', 'json', { already: 'parsed' }, { already: 'parsed' }],
		['json keep a list', 'json', [1], [1]],
		['json read a number', 'json', '5', 5],
		[
			'resourceLocator read the chosen ID',
			'resourceLocator',
			{ __rl: true, mode: 'id', value: ID },
			ID,
		],
		['resourceLocator read an ID alone', 'resourceLocator', ID, ID],
	] as Array<[string, INodeProperties['type'], unknown, unknown]>)(
		'of the type %s',
		(_, type, raw, value) => expect(readOne(type, raw)).toEqual({ a: value }),
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
		const where = panelGroupField('filters', [field('json', { displayName: 'Where' })]);
		const { message } = thrownBy(() => valuesOf([where], { filters: { a: '{"threadId": }' } }));
		expect(message).toMatch(/^"Where" must be JSON \(.+\), but is ".+"$/);
		expect(message.replace(/\(.+\)/, '')).not.toMatch(EMPTY_WORDS);
		const rows = rowsField('rows', 'Rows', '', 'Row', [field('json')]);
		const inRow = thrownBy(() => valuesOf([rows], { rows: { values: [{ a: '{' }] } }));
		expect(inRow.message).toMatch(/^"A Field" in "Rows" must be JSON \(.+\), but is "\{"$/);
	});
});

const fields: INodeProperties[] = [
	simplifySwitch,
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
	options: z.object({ minutes: finiteNumber.min(1), title: z.string().trim(), key: z.string() }),
});

const read = (parameters: Record<string, unknown>) =>
	itemOf(parameters, { fields }).settings(schema);

const OPTIONS = { minutes: 15, title: 'Untitled', key: '' };
const BY_DEFAULT = { simplify: true, tags: ['a', 'b'], options: OPTIONS };

describe('settings', () => {
	it.each<[string, Record<string, unknown>, object]>([
		['the defaults where nothing is given', {}, {}],
		['the defaults where no option is given', { options: {} }, {}],
		...Object.entries(omit(NOTHINGS, 'empty')).flatMap(
			([nothing, value]): Array<[string, Record<string, unknown>, object]> => [
				[
					`the defaults where each is ${nothing}`,
					{ simplify: value, tags: undefined, options: { minutes: value, title: value } },
					{},
				],
				[`the defaults where the options are ${nothing}`, { options: value }, {}],
			],
		),
		['what is given', { simplify: 'false', tags: ['c'] }, { simplify: false, tags: ['c'] }],
		['the ID that was chosen', { threadId: { mode: 'id', value: ' 7 ' } }, { threadId: '7' }],
		['trimmed', { options: { title: ' 5 ' } }, { options: { ...OPTIONS, title: '5' } }],
		['read from JSON', { options: '{"minutes": 3}' }, { options: { ...OPTIONS, minutes: 3 } }],
	])('are %s', (_, parameters, expected) => {
		expect(read(parameters)).toEqual({ ...BY_DEFAULT, ...expected });
	});

	it.each([
		['"Minutes" in "Options" must be at least 1, but is 0', { options: { minutes: 0 } }],
		['"Minutes" in "Options" must be a number, but is Infinity', { options: { minutes: 1 / 0 } }],
		['"Title" in "Options" must be text, but is {}', { options: { title: {} } }],
		['"Options" must be an object (JSON), but is [1]', { options: [1] }],
		['"Simplify" must be true or false, but is "perhaps"', { simplify: 'perhaps' }],
	])('are refused: %s', (message, parameters) => {
		expect(thrownBy(() => read(parameters)).message).toBe(message);
	});
});

describe('a setting of two items', () => {
	const minutes = numberField('minutes', 'Minutes', undefined, { default: 15 });
	const name = textField('name', 'Name', undefined, { default: '={{ $json.name }}' });
	const settings = [optionsField([minutes, textField('title', 'Title')]), name];

	/** How often n8n is asked, where each item reads the setting in these ways, and what they get. */
	function readings(parameters: INodeParameters, ways: Array<(item: ParameterReader) => unknown>) {
		const own = { ...node, parameters };
		let asked = 0;
		const items = [0, 1].map(
			(index) => new ParameterReader(own, settings, () => (asked += 1), 'Nothing was sent.', index),
		);
		return { values: items.map((one) => ways.map((way) => way(one))), asked };
	}

	const ofOptions = (one: ParameterReader) => one.setting('options.minutes', finiteNumber);
	const named = (one: ParameterReader) => one.text('name');

	it.each<[string, INodeParameters, (item: ParameterReader) => unknown, number]>([
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
		const other = finiteNumber.transform((value) => value * 10);
		const { values } = readings({}, [
			ofOptions,
			(one) => one.setting('options.minutes', other),
			(one) => one.setting('options.minutes', other, 5),
		]);
		expect(values[0]).toEqual([1, 20, 30]);
	});

	it('is refused for each item that reads it', () => {
		const strict = finiteNumber.max(0);
		const refused = (one: ParameterReader) =>
			thrownBy(() => one.setting('options.minutes', strict)).message;
		expect(readings({}, [refused]).values.flat()).toEqual([
			'"Minutes" in "Options" must be at most 0, but is 1',
			'"Minutes" in "Options" must be at most 0, but is 2',
		]);
	});
});
