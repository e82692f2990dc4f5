import { cloneDeep, set, uniqBy } from 'lodash';
import type { INodeParameters, INodeProperties } from 'n8n-workflow';

import { operationFields } from 'nodes/XpertAi/execution/nodeProperties';
import { ECHO_ASSISTANT_ID } from 'sandbox';

import { calledBy, goodParameters, titleOf } from './support/caseOperations';
import { ALL_CASES } from './support/cases';
import { TEXTS, column, useIngest } from './support/ingest';
import { byId } from './support/locators';
import { ask } from './support/runs';

const { fixture, submit, storedNames, sent } = useIngest();

const LEFT = '{{ $json.text }}';
const WORDS = 'is Fixed and holds an expression: switch it to Expression';

/** Requests that change something. Whether a source is remembered is read before a file of records is. */
const written = () => sent().filter(({ method }) => method !== 'GET');

interface Place {
	field: INodeProperties;
	path: string;
	shown: INodeParameters;
}

/** What must be chosen for a field to be shown, by the paths of the fields, of which those beside it have this one above. */
const shownBy = ({ displayOptions }: INodeProperties, above: string): INodeParameters =>
	Object.fromEntries(
		Object.entries(displayOptions?.show ?? {})
			.filter(([name]) => !name.startsWith('@') && name !== '/operation')
			.map(([name, values]) => [
				name.startsWith('/') ? name.slice(1) : `${above}${name}`,
				values?.[0] as string,
			]),
	);

/** Required beside the field that is tried. */
const BESIDE = {
	name: 'a',
	text: 'A text',
	url: 'https://example.com/a.md',
};

/** Every field that takes a text, however deep it lies. */
function textFields(
	operation: string,
	fields: INodeProperties[],
	above = '',
	shown: INodeParameters = {},
): Place[] {
	return fields.flatMap((field) => {
		const path = `${above}${field.name}`;
		const all = { ...shown, ...shownBy(field, above) };
		const { '@tool': inTools, '/operation': others } = field.displayOptions?.show ?? {};
		if (inTools || (others && !others.includes(operation))) return [];
		if (field.type === 'string' || field.type === 'json') return [{ field, path, shown: all }];
		const options = field.options ?? [];
		if (field.type === 'collection')
			return textFields(operation, options as INodeProperties[], `${path}.`, all);
		return options.flatMap((group) =>
			'values' in group
				? textFields(operation, group.values, `${path}.${group.name}[0].`, all)
				: [],
		);
	});
}

/** Each once, as operations share fields. */
const ALL = uniqBy(
	ALL_CASES.flatMap((one) =>
		textFields(calledBy(one).value, operationFields(calledBy(one)) as INodeProperties[]).map(
			(place) => ({
				title: `${titleOf(one)} ${place.path}`,
				good: goodParameters(one),
				place,
			}),
		),
	),
	({ place: { field, path } }) => [path, field.displayName, field.type].join(),
);

describe('a Fixed text that holds an expression', () => {
	it('is looked for in every field that takes a text', () => {
		expect(ALL.length).toBeGreaterThan(70);
		expect(ALL.some(({ place }) => place.path.includes('[0].'))).toBe(true);
	});

	it.each(ALL)('is refused before anything is stored: $title', async ({ good, place }) => {
		const parameters = cloneDeep({ ...BESIDE, ...good }) as INodeParameters;
		for (const [path, value] of Object.entries({ ...place.shown, [place.path]: LEFT }))
			set(parameters, path, value);
		const { error } = await fixture.run(parameters);
		expect(error?.message).toContain(`"${place.field.displayName}"`);
		expect(error?.message).toContain(WORDS);
		expect(written()).toEqual([]);
	});

	it('is told item by item with Continue, and in the mapper as well', async () => {
		const value = { name: LEFT };
		const { outputs } = await submit(
			{ documentFields: { mappingMode: 'defineBelow', value } },
			{ items: [{ json: {} }, { json: {} }], onError: 'continueErrorOutput' },
		);
		expect(column(outputs[1], 'error')).toEqual(
			[0, 1].map((at) => `"name" in "Document Fields" ${WORDS} [item ${at}]`),
		);
		expect(storedNames()).toEqual([]);
	});
});

describe('braces that are data', () => {
	it.each([LEFT, 'How {{ placeholders }} work', '$json.text'])(
		'are taken as an expression gives them: %s',
		async (text) => {
			const parameters = { ...TEXTS, documentKey: '={{ $json.key }}' };
			const items = [{ json: { name: text, text, key: text } }];
			const submitted = await submit(parameters, { items });
			expect(column(submitted.items, 'key')).toEqual([text]);
			const said = await fixture.run(
				ask({ threadSource: 'new', message: '={{ $json.text }}', assistantId: ECHO_ASSISTANT_ID }),
				{ items },
			);
			expect(column(said.items, 'output')).toEqual([`Echo: ${text}`]);
		},
	);

	it('disable a document that is gone, whatever it is called', async () => {
		const night = async (names: string[]) =>
			await submit(
				{ ...TEXTS, mode: 'mirror', sourceName: 'repo', maxGonePercent: 100 },
				{ items: names.map((name) => ({ json: { name, text: `About ${name}` } })) },
			);
		const others = [...'abcdefghij'];
		await night([...others, '/{{cookiecutter.slug}}/{{ $json.x }}.md']);
		const { items } = await night(others);
		expect(column(items, 'outcome')).toContain('disabled');
	});
});

describe('an expression that gives nothing', () => {
	const required = ALL_CASES.flatMap((one) =>
		(operationFields(calledBy(one)) as INodeProperties[])
			.filter(({ type, displayOptions = {}, ...field }) => {
				const isShown = displayOptions.show?.['@tool'] === undefined;
				return field.required && isShown && type !== 'resourceMapper';
			})
			.map((field) => ({
				title: `${titleOf(one)} ${field.displayName}`,
				parameters: { ...BESIDE, ...goodParameters(one), ...shownBy(field, '') } as INodeParameters,
				field,
			})),
	);

	it('is looked for in every field that is required', () => {
		expect(required.length).toBeGreaterThan(30);
	});

	it.each(required)('is said to be one: $title', async ({ parameters, field }) => {
		for (const given of ['={{ $json.nope }}', '={{ null }}', '={{ "" }}']) {
			const { name, type, displayName } = field;
			parameters[name] = type === 'resourceLocator' ? byId(given) : given;
			// With a file in place of a text, Submit says so.
			const { error } = await fixture.run(parameters, { items: [{ json: {}, binary: {} }] });
			expect(error?.message).toContain(
				`"${displayName}" is empty: its expression gave nothing for this item`,
			);
		}
		expect(written()).toEqual([]);
	});
});

describe('an expression that reads the field beside its own', () => {
	it.each([
		['Fixed', 'A manual', 'A manual'],
		['an expression', '={{ $json.text }}', 'About a'],
	])('gets its value, which is %s', async (_, description, expected) => {
		const extKnowledgebaseId = '={{ $parameter["&description"] + "!" }}';
		const parameters: INodeParameters = {
			resource: 'knowledgebase',
			operation: 'create',
			name: 'Manuals',
			additionalFields: { description, extKnowledgebaseId },
		};
		const { error } = await fixture.run(parameters, { items: [{ json: { text: 'About a' } }] });
		expect(error).toBeUndefined();
		expect(sent().at(-1)?.body).toMatchObject({
			description: expected,
			extKnowledgebaseId: `${expected}!`,
		});
	});

	it('gets that of its own row', async () => {
		const values = [
			{ key: 'a', content: 'one' },
			{ key: '={{ $parameter["&content"] + "!" }}', content: 'two' },
		];
		const { error } = await submit(
			{ ...TEXTS, documentSettings: { metadataRows: { values } } },
			{ items: [{ json: { name: 'a', text: 'A text' } }] },
		);
		expect(error).toBeUndefined();
		expect(sent('E3')[0]?.body).toMatchObject([{ metadata: { a: 'one', 'two!': 'two' } }]);
	});
});

describe('an expression that fails', () => {
	const BROKEN = '={{ $json.day.toDateTime().toISODate() }}';
	const day = [{ json: { day: 'x', name: 'a', text: 'A text' } }];

	it.each<[string, string, INodeParameters]>([
		['a key', 'Document Key', { ...TEXTS, documentKey: BROKEN }],
		['a text', 'Text', { ...TEXTS, text: BROKEN }],
		['code that is none', 'Text', { ...TEXTS, text: '={{ $json.a. }}' }],
		['a setting of the whole run', 'When Run Again', { ...TEXTS, mode: BROKEN }],
	])('is told with its field: %s', async (_, label, parameters) => {
		const { error } = await submit(parameters, { items: day });
		expect(error?.message).toMatch(new RegExp(`^"${label}" cannot be evaluated: \\S`));
		expect(error?.description).toMatch(
			/^Nothing was sent for this item\. Correct the expression, /,
		);
	});

	it('is told with its field where the workflow goes on, and in another operation', async () => {
		const { items } = await submit(
			{ ...TEXTS, documentKey: BROKEN },
			{ items: day, onError: 'continueRegularOutput' },
		);
		expect(column(items, 'error')).toEqual([
			expect.stringMatching(/^"Document Key" cannot be evaluated: /),
		]);
		const asked = await fixture.run(ask({ message: BROKEN, threadSource: 'new' }), { items: day });
		expect(asked.error?.message).toMatch(/^"Message" cannot be evaluated: /);
	});
});
