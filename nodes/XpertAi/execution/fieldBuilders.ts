import { attempt, compact, isNil, isObject, omitBy, reject, startCase } from 'lodash';
import type {
	IDisplayOptions,
	INodeProperties,
	INodePropertyOptions,
	NodeParameterValueType,
	NodePropertyTypes,
} from 'n8n-workflow';

import { parseExactJson } from '../payloads/json';

export type FieldValues = Record<string, unknown>;

/** Leaves out fields that are undefined or `''`. Keeps null, because null clears a field on the server. */
export const filledOnly = (values: FieldValues): FieldValues =>
	omitBy(values, (value) => value === undefined || value === '');

/**
 * Splits a text at a separator. If the text is a JSON array of plain values, returns these values, because models and
 * templates write lists in this form. Trims the parts, and leaves out empty parts.
 */
export const splitList = (text: string, separator: string | RegExp = ','): string[] =>
	compact((listIn(text) ?? text.split(separator)).map((one) => String(one).trim()));

/** Returns the values of a JSON array of plain values, without null; undefined for any other text. */
function listIn(text: string): unknown[] | undefined {
	if (!text.trim().startsWith('[')) return undefined;
	const list: unknown = attempt(() => parseExactJson(text));
	const values = Array.isArray(list) ? reject(list as unknown[], isNil) : undefined;
	return values?.some(isObject) ? undefined : values;
}

export const ID_PLACEHOLDER = 'e.g. 335ccdfa-d2bb-4f15-9f4a-2b180f46d737';

/** Properties of a field that override the defaults of the functions below. */
type Overrides = Partial<INodeProperties>;

/**
 * Returns a function that builds fields of one type.
 *
 * @param initial the default value of the fields
 * @param ofAll additional properties of every field
 */
const fieldMaker =
	(type: NodePropertyTypes, initial: NodeParameterValueType, ofAll?: Overrides) =>
	(name: string, displayName: string, description?: string, more?: Overrides): INodeProperties => ({
		displayName,
		name,
		type,
		default: initial,
		description,
		...ofAll,
		...more,
	});

export const textField = fieldMaker('string', '');

/** A text field for a record ID. */
export const idField = fieldMaker('string', '', { placeholder: ID_PLACEHOLDER });

/** Whether the value of a field is a record ID: true for `idField` and resource locators. */
export const isIdField = ({ type, placeholder }: INodeProperties): boolean =>
	type === 'resourceLocator' || placeholder === ID_PLACEHOLDER;

export const jsonField = fieldMaker('json', '{}');

export const numberField = fieldMaker('number', 0);

/** A switch. The default is off. */
export const booleanField = fieldMaker('boolean', false);

/** A switch inside a collection. It is on when the user adds it, and off if it is left out (see `valueIfAbsent`). */
export const switchOnWhenAdded = fieldMaker('boolean', true);

/** The value of a field that n8n gives no value for. A switch that was not added to its collection is off. */
export const valueIfAbsent = ({ type, default: initial }: INodeProperties, isInside: boolean) =>
	isInside && type === 'boolean' ? false : initial;

/** A collection of optional fields. */
export const groupField = fieldMaker('collection', {}, { placeholder: 'Add field' });

/**
 * A list of rows, each with the same fields.
 *
 * @param rowName the display name of a row
 * @param values the fields of a row
 */
export function rowsField(
	name: string,
	displayName: string,
	description: string,
	rowName: string,
	values: INodeProperties[],
	more?: Overrides,
): INodeProperties {
	return fieldMaker('fixedCollection', {})(name, displayName, description, {
		typeOptions: { multipleValues: true },
		placeholder: `Add ${rowName.toLowerCase()}`,
		options: [{ displayName: rowName, name: 'values', values }],
		...more,
	});
}

/** A choice in a list: its display name, or an object with more properties, e.g. a description. */
type Choice = string | Omit<INodePropertyOptions, 'value'>;

/**
 * A dropdown list. The default is the first choice.
 *
 * @param choices the choices, by value
 */
export function choiceField<Value extends string>(
	name: string,
	displayName: string,
	description: string | undefined,
	choices: Record<Value, Choice>,
	more?: Overrides,
): INodeProperties {
	const options = Object.entries<Choice>(choices).map(([value, choice]) => ({
		value,
		...(typeof choice === 'string' ? { name: choice } : choice),
	}));
	const initial = options[0]?.value ?? '';
	return fieldMaker('options', initial)(name, displayName, description, { options, ...more });
}

/** The path of the parameter Additional Fields (JSON). */
export const ADDITIONAL_JSON_PARAMETER = 'options.additionalFieldsJson';

/** The option for request fields that have no parameter in the node. */
export const additionalFieldsJsonField = jsonField(
	'additionalFieldsJson',
	'Additional Fields (JSON)',
	'Further fields of the request as a JSON object, merged into what the panel says; what it names wins',
	{ typeOptions: { rows: 4 } },
);

/**
 * The parameter for the name of a binary field.
 *
 * @param content what the binary field contains, e.g. `the file to upload`
 */
export function binaryNameField(content: string): INodeProperties {
	const description = `Name of the binary field of the item that holds ${content}`;
	const hint = `The name of the input field containing ${content}`;
	const more = { default: 'data', required: true, hint };
	return textField('binaryPropertyName', 'Input Binary Field', description, more);
}

export const returnAllField = booleanField(
	'returnAll',
	'Return All',
	'Whether to return all results or only up to a given limit',
);

export const limitField = numberField('limit', 'Limit', 'Max number of results to return', {
	typeOptions: { minValue: 1 },
	default: 50,
	displayOptions: { show: { returnAll: [false] } },
});

/** Display condition: the node is a tool of an AI agent. */
export const IF_TOOL = { '@tool': [true] };

export const simplifySwitch = booleanField(
	'simplify',
	'Simplify',
	'Whether to return a simplified version of the response instead of the raw data',
	{ default: true, displayOptions: { hide: IF_TOOL } },
);

/** The fields for the output format. n8n's UX guidelines require the field "Output" in an agent's tool. */
export const outputFormatFields: INodeProperties[] = [
	simplifySwitch,
	choiceField(
		'toolOutput',
		'Output',
		'What the model gets: each word of it costs tokens',
		{
			simplified: { name: 'Simplified', description: 'What a model needs, in few words' },
			raw: { name: 'Raw', description: 'All that the server answers' },
			selected: { name: 'Selected Fields', description: 'Only the fields that you name' },
		},
		{ displayOptions: { show: IF_TOOL } },
	),
	textField(
		'toolFields',
		'Fields',
		'The fields to give, by the names in the other outputs, separated by commas',
		{
			required: true,
			placeholder: 'e.g. output, status',
			displayOptions: { show: { ...IF_TOOL, toolOutput: ['selected'] } },
		},
	),
];

export const DEFAULT_TIMEOUT_SECONDS = 120;

/** The option Timeout. It applies to each request and replaces n8n's own timeout of 300 seconds. */
export const timeoutOptionWithDefault = (defaultSeconds = DEFAULT_TIMEOUT_SECONDS) =>
	numberField('timeout', 'Timeout (Seconds)', 'How long to wait for the answer to one request', {
		typeOptions: { minValue: 1 },
		default: defaultSeconds,
	});

/** The maximum of the option Requests at Once. A proxy may reject more parallel requests. */
const MAX_CONCURRENCY = 20;

export const concurrencyOption = numberField(
	'concurrency',
	'Requests at Once',
	'How many items are worked on side by side; the output keeps their order',
	{ typeOptions: { minValue: 1, maxValue: MAX_CONCURRENCY, numberPrecision: 0 }, default: 1 },
);

/** Sorts optional fields by display name, as n8n's linter requires. */
export const sortedByDisplayName = (fields: INodeProperties[]): INodeProperties[] =>
	fields.toSorted((one, other) => one.displayName.localeCompare(other.displayName, 'en'));

export const optionsField = (options: INodeProperties[]): INodeProperties =>
	groupField('options', 'Options', undefined, {
		placeholder: 'Add option',
		options: sortedByDisplayName(options),
	});

/** A collection of settings that few users need, shown below the options. */
export const tuningField = (displayName: string, settings: INodeProperties[]): INodeProperties =>
	groupField('tuning', displayName, undefined, {
		placeholder: 'Add setting',
		options: sortedByDisplayName(settings),
	});

/** Names of the collections that group fields in the panel, but not in the request body. */
const PANEL_GROUPS = ['additionalFields', 'updateFields', 'filters'];

/** A collection of optional body fields. The name must be in `PANEL_GROUPS`. */
export const panelGroupField = (name: string, options: INodeProperties[]): INodeProperties =>
	groupField(name, startCase(name), undefined, {
		options,
		...(name === 'filters' && { placeholder: 'Add filter' }),
	});

/** Adds display conditions to fields. n8n's own function for this purpose is slow. */
export function displayedIf<Field extends INodeProperties>(
	{ show }: Pick<IDisplayOptions, 'show'>,
	fields: Field[],
): Field[] {
	return fields.map(({ displayOptions = {}, ...field }) => ({
		...(field as Field),
		displayOptions: { ...displayOptions, show: { ...displayOptions.show, ...show } },
	}));
}

/** Whether a field is one of the collections in `PANEL_GROUPS`. */
export const isPanelGroup = ({ name, type }: INodeProperties): boolean =>
	type === 'collection' && PANEL_GROUPS.includes(name);
