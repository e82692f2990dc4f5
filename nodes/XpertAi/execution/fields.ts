import { compact, omitBy, startCase } from 'lodash';
import type {
	IDisplayOptions,
	INodeProperties,
	INodePropertyOptions,
	NodeParameterValueType,
	NodePropertyTypes,
} from 'n8n-workflow';

/** Values of fields, by field name. */
export type FieldValues = Record<string, unknown>;

/** Drops the values of empty fields. */
export const filledOnly = (values: FieldValues): FieldValues =>
	omitBy(values, (value) => value === undefined || value === '');

/** Splits a text at a separator, e.g. into IDs or names. Blank parts are left out. */
export const splitList = (text: string, separator: string | RegExp = ',') =>
	compact(text.split(separator).map((one) => one.trim()));

export const ID_PLACEHOLDER = 'e.g. 335ccdfa-d2bb-4f15-9f4a-2b180f46d737';

/** Any other properties of a field. They override those that a function of this file sets. */
type More = Partial<INodeProperties>;

/**
 * Returns a function that builds fields of one type.
 *
 * @param initial the default value of these fields
 * @param ofAll further properties of all these fields
 */
const fieldMaker =
	(type: NodePropertyTypes, initial: NodeParameterValueType, ofAll?: More) =>
	(name: string, displayName: string, description?: string, more?: More): INodeProperties => ({
		displayName,
		name,
		type,
		default: initial,
		description,
		...ofAll,
		...more,
	});

export const textField = fieldMaker('string', '');

/** A text field for the ID of a record. */
export const idField = fieldMaker('string', '', { placeholder: ID_PLACEHOLDER });

/** Whether a field takes the ID of a record: `idField` or a resource locator. */
export const isIdField = ({ type, placeholder }: INodeProperties): boolean =>
	type === 'resourceLocator' || placeholder === ID_PLACEHOLDER;

export const jsonField = fieldMaker('json', '{}');

export const numberField = fieldMaker('number', 0);

/** A switch, which is off by default unless `more` says otherwise. */
export const booleanField = fieldMaker('boolean', false);

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
	more?: More,
): INodeProperties {
	return fieldMaker('fixedCollection', {})(name, displayName, description, {
		typeOptions: { multipleValues: true },
		placeholder: `Add ${rowName.toLowerCase()}`,
		options: [{ displayName: rowName, name: 'values', values }],
		...more,
	});
}

/** A choice: its display name, alone or with other properties that n8n shows, e.g. a description. */
type Choice = string | Omit<INodePropertyOptions, 'value'>;

/**
 * A field with a list of choices, of which the user selects one. Default: the first, unless `more` sets another.
 *
 * @param choices the choices by value
 */
export function choiceField<Value extends string>(
	name: string,
	displayName: string,
	description: string | undefined,
	choices: Record<Value, Choice>,
	more?: More,
): INodeProperties {
	const options = Object.entries<Choice>(choices).map(([value, choice]) => ({
		value,
		...(typeof choice === 'string' ? { name: choice } : choice),
	}));
	const initial = options[0]?.value ?? '';
	return fieldMaker('options', initial)(name, displayName, description, { options, ...more });
}

/** The name of the parameter Additional Fields (JSON), as `Reader` takes it. */
export const ADDITIONAL_FIELDS_JSON = 'options.additionalFieldsJson';

/** The option for fields of the body that have no parameter in the panel. */
export const additionalFieldsJson = jsonField(
	'additionalFieldsJson',
	'Additional Fields (JSON)',
	'Further fields of the request as a JSON object, merged into what the panel says; what it names wins',
	{ typeOptions: { rows: 4 } },
);

/**
 * The parameter that names a binary field of the item.
 *
 * @param content what the binary field contains, e.g. `the file to upload`
 */
export function binaryFieldName(content: string): INodeProperties {
	const description = `Name of the binary field of the item that holds ${content}`;
	const hint = `The name of the input field containing ${content}`;
	const more = { default: 'data', required: true, hint };
	return textField('binaryPropertyName', 'Input Binary Field', description, more);
}

/** Return All and Limit, the two usual parameters of lists in n8n. */
export const returnAll = booleanField(
	'returnAll',
	'Return All',
	'Whether to return all results or only up to a given limit',
);

export const limit = numberField('limit', 'Limit', 'Max number of results to return', {
	typeOptions: { minValue: 1 },
	default: 50,
	displayOptions: { show: { returnAll: [false] } },
});

/** The display condition that holds if the node is used as a tool of an AI agent. */
export const OF_TOOLS = { '@tool': [true] };

export const simplify = booleanField(
	'simplify',
	'Simplify',
	'Whether to return a simplified version of the response instead of the raw data',
	{ default: true, displayOptions: { hide: OF_TOOLS } },
);

/**
 * The fields that `readAnswerOutput` reads. An agent's tool shows Output in place of Simplify, as n8n's UX guidelines
 * require.
 */
export const simplifyFields: INodeProperties[] = [
	simplify,
	choiceField(
		'toolOutput',
		'Output',
		'What the model gets: each word of it costs tokens',
		{ simplified: 'Simplified', raw: 'Raw', selected: 'Selected Fields' },
		{ displayOptions: { show: OF_TOOLS } },
	),
	textField('toolFields', 'Fields', 'The fields of the raw output to give, separated by commas', {
		required: true,
		placeholder: 'e.g. name, status',
		displayOptions: { show: { ...OF_TOOLS, toolOutput: ['selected'] } },
	}),
];

export const DEFAULT_TIMEOUT_SECONDS = 120;

/** The option for the timeout of one request. It replaces n8n's own timeout of 300 seconds. */
export const timeoutOption = (defaultSeconds = DEFAULT_TIMEOUT_SECONDS) =>
	numberField('timeout', 'Timeout (Seconds)', 'How long to wait for the answer to one request', {
		typeOptions: { minValue: 1 },
		default: defaultSeconds,
	});

/** Upper limit of Requests at Once: more requests do not make servers faster, and a proxy may reject them. */
const MOST_AT_ONCE = 20;

export const atOnceOption = numberField(
	'concurrency',
	'Requests at Once',
	'How many items are worked on side by side; the output keeps their order',
	{ typeOptions: { minValue: 1, maxValue: MOST_AT_ONCE, numberPrecision: 0 }, default: 1 },
);

/** Sorts optional fields by display name, as n8n's linter requires. */
export const inPanelOrder = (fields: INodeProperties[]): INodeProperties[] =>
	fields.toSorted((one, other) => one.displayName.localeCompare(other.displayName, 'en'));

export const optionsField = (options: INodeProperties[]): INodeProperties =>
	groupField('options', 'Options', undefined, {
		placeholder: 'Add option',
		options: inPanelOrder(options),
	});

/**
 * Names of the collections that only group optional fields in the panel. The body has the fields themselves, without
 * the collection.
 */
const CONTAINERS = ['additionalFields', 'updateFields', 'filters'];

/** A collection that groups optional fields of a body. Its name must be in `CONTAINERS`. */
export const fieldCollection = (name: string, options: INodeProperties[]): INodeProperties =>
	groupField(name, startCase(name), undefined, {
		options,
		...(name === 'filters' && { placeholder: 'Add filter' }),
	});

/**
 * Adds display conditions to fields. n8n's own function for this merges deeply, which would take a sixth of the time
 * that the nodes need to load.
 */
export function displayedIf<Field extends INodeProperties>(
	{ show }: Pick<IDisplayOptions, 'show'>,
	fields: Field[],
): Field[] {
	return fields.map(({ displayOptions = {}, ...field }) => ({
		...(field as Field),
		displayOptions: { ...displayOptions, show: { ...displayOptions.show, ...show } },
	}));
}

/** Whether a field is a collection that only groups other fields of the body (see `CONTAINERS`). */
export const isContainer = ({ name, type }: INodeProperties): boolean =>
	type === 'collection' && CONTAINERS.includes(name);
