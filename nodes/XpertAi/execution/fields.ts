import omitBy from 'lodash/omitBy';
import type {
	IDisplayOptions,
	INodeProperties,
	INodePropertyOptions,
	NodeParameterValueType,
	NodePropertyTypes,
} from 'n8n-workflow';

/** Values read from the fields of an item, by field name. */
export type FieldValues = Record<string, unknown>;

/** Drops the values of empty fields. */
export function filledOnly(values: FieldValues): FieldValues {
	return omitBy(values, (value) => value === undefined || value === '');
}

/** An example of an ID. */
export const ID_PLACEHOLDER = 'e.g. 335ccdfa-d2bb-4f15-9f4a-2b180f46d737';

/** What a field has beyond its name, its display name and its description. */
type Further = Partial<INodeProperties>;

/** Makes the function that makes the fields of a type. */
const fieldMaker =
	(type: NodePropertyTypes, initial: NodeParameterValueType, ofAll?: Further) =>
	(
		name: string,
		displayName: string,
		description?: string,
		further?: Further,
	): INodeProperties => ({
		displayName,
		name,
		type,
		default: initial,
		description,
		...ofAll,
		...further,
	});

export const textField = fieldMaker('string', '');

/** The ID of a record, as text. */
export const idField = fieldMaker('string', '', { placeholder: ID_PLACEHOLDER });

/** A JSON object. */
export const jsonField = fieldMaker('json', '{}');

export const numberField = fieldMaker('number', 0);

/** A switch, which is off by default. */
export const booleanField = fieldMaker('boolean', false);

/** A collection of optional fields. */
export function groupField(
	name: string,
	displayName: string,
	description: string | undefined,
	options: INodeProperties[],
	placeholder = 'Add field',
): INodeProperties {
	return fieldMaker('collection', {})(name, displayName, description, { placeholder, options });
}

/** Rows of fields. @param rowName what the panel calls a row */
export function rowsField(
	name: string,
	displayName: string,
	description: string,
	rowName: string,
	values: INodeProperties[],
	further?: Further,
): INodeProperties {
	return fieldMaker('fixedCollection', {})(name, displayName, description, {
		typeOptions: { multipleValues: true },
		placeholder: `Add ${rowName.toLowerCase()}`,
		options: [{ displayName: rowName, name: 'values', values }],
		...further,
	});
}

/** The name of a choice, or its name and what else n8n shows of it. */
type Choice = string | Omit<INodePropertyOptions, 'value'>;

/** A choice of one value. The first is the default, unless `further` says another. */
export function choiceField<Value extends string>(
	name: string,
	displayName: string,
	description: string | undefined,
	choices: Record<Value, Choice>,
	further?: Further,
): INodeProperties {
	const options = Object.entries<Choice>(choices).map(([value, choice]) => ({
		value,
		...(typeof choice === 'string' ? { name: choice } : choice),
	}));
	const initial = options[0]?.value ?? '';
	return fieldMaker('options', initial)(name, displayName, description, { options, ...further });
}

/** The body as JSON text or an expression. */
export const jsonBodyField = (example: string) =>
	jsonField(
		'jsonBody',
		'JSON Body',
		'The request body as the server takes it, as JSON or an expression',
		{ typeOptions: { rows: 8 }, default: example, required: true },
	);

/** The parameter with further fields of a body. */
export const ADDITIONAL_FIELDS_JSON = 'options.additionalFieldsJson';

/** The option with further fields of a body, for what the panel does not have. */
export const additionalFieldsJson = jsonField(
	'additionalFieldsJson',
	'Additional Fields (JSON)',
	'Further fields of the request as a JSON object, merged into what the panel says; what it names wins',
	{ typeOptions: { rows: 4 } },
);

/** The parameter that names a binary field of the item. */
export const binaryFieldName = (content: string) =>
	textField(
		'binaryPropertyName',
		'Input Binary Field',
		`Name of the binary field of the item that holds ${content}`,
		{
			default: 'data',
			required: true,
			hint: `The name of the input field containing ${content}`,
		},
	);

/** n8n's pair of Return All and Limit. */
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

/** Conditions of a node that is the tool of an agent. */
export const OF_TOOLS = { '@tool': [true] };

export const simplify = booleanField(
	'simplify',
	'Simplify',
	'Whether to return a simplified version of the response instead of the raw data',
	{ default: true, displayOptions: { hide: OF_TOOLS } },
);

/** What the model of an agent gets, in place of Simplify (n8n's UX guidelines). */
export const toolOutput = choiceField(
	'toolOutput',
	'Output',
	'What the model gets: each word of it costs tokens',
	{ simplified: 'Simplified', raw: 'Raw', selected: 'Selected Fields' },
	{ displayOptions: { show: OF_TOOLS } },
);

export const toolFields = textField(
	'toolFields',
	'Fields',
	'The fields of the raw output to give, separated by commas',
	{
		required: true,
		placeholder: 'e.g. name, status',
		displayOptions: { show: { ...OF_TOOLS, toolOutput: ['selected'] } },
	},
);

/** What `readAnswerOutput` reads. */
export const simplifyFields: INodeProperties[] = [simplify, toolOutput, toolFields];

export const DEFAULT_TIMEOUT_SECONDS = 120;

/** The timeout for one request; n8n's own limit of 300 seconds never applies. */
export const timeoutOption = (defaultSeconds = DEFAULT_TIMEOUT_SECONDS) =>
	numberField('timeout', 'Timeout (Seconds)', 'How long to wait for the answer to one request', {
		typeOptions: { minValue: 1 },
		default: defaultSeconds,
	});

/** More requests at once make servers no faster, and a proxy may refuse them. */
const MOST_AT_ONCE = 20;

/** How many items run at once. */
export const atOnceOption = numberField(
	'concurrency',
	'Requests at Once',
	'How many items are worked on side by side; the output keeps their order',
	{ typeOptions: { minValue: 1, maxValue: MOST_AT_ONCE, numberPrecision: 0 }, default: 1 },
);

/**
 * Sorts optional fields as n8n's linter requires. Without lodash, whose sorting would load seven more files at startup.
 */
export function inPanelOrder(fields: INodeProperties[]): INodeProperties[] {
	return fields.toSorted((one, other) => one.displayName.localeCompare(other.displayName, 'en'));
}

/** The Options collection of an operation. */
export function optionsField(options: INodeProperties[]): INodeProperties {
	return groupField('options', 'Options', undefined, inPanelOrder(options), 'Add option');
}

/** Collections that only group optional fields: their fields belong to the body itself. */
const CONTAINERS = {
	additionalFields: ['Additional Fields', 'Add field'],
	updateFields: ['Update Fields', 'Add field'],
	filters: ['Filters', 'Add filter'],
} as const;

/** A collection of optional fields of a body. */
export function fieldCollection(
	name: keyof typeof CONTAINERS,
	fields: INodeProperties[],
): INodeProperties {
	const [displayName, placeholder] = CONTAINERS[name];
	return groupField(name, displayName, undefined, fields, placeholder);
}

/**
 * Adds display conditions to fields. n8n's own function merges deeply, which would take a sixth of the load time of the
 * nodes.
 */
export function displayedIf<Field extends INodeProperties>(
	{ show, hide }: Pick<IDisplayOptions, 'show' | 'hide'>,
	fields: Field[],
): Field[] {
	return fields.map(({ displayOptions = {}, ...field }) => ({
		...(field as Field),
		displayOptions: {
			...displayOptions,
			...(show ? { show: { ...displayOptions.show, ...show } } : {}),
			...(hide ? { hide: { ...displayOptions.hide, ...hide } } : {}),
		},
	}));
}

/** Whether a field only groups other fields of the body. */
export function isContainer({ name, type }: INodeProperties): boolean {
	return type === 'collection' && name in CONTAINERS;
}
