import type {
	IDisplayOptions,
	INodeProperties,
	INodePropertyOptions,
	INodeType,
} from 'n8n-workflow';

/** A parameter of the editor, with what it asks of the server while it is filled in, e.g. its list search. */
export interface Field extends INodeProperties {
	methods?: INodeType['methods'];
}

/** Values read from the fields of an item, by the field's name. */
export type FieldValues = Record<string, unknown>;

/** Values of fields without those that are left empty. */
export function filledOnly(values: FieldValues): FieldValues {
	return Object.fromEntries(
		Object.entries(values).filter(([, value]) => value !== undefined && value !== ''),
	);
}

/** The choice between typed fields and a body of one's own. */
export const bodyMode: INodeProperties = {
	displayName: 'Body',
	name: 'bodyMode',
	type: 'options',
	noDataExpression: true,
	options: [
		{ name: 'Fields', value: 'fields', description: 'Fill in the fields one by one' },
		{
			name: 'JSON',
			value: 'json',
			description: 'Give the whole request body as JSON, or an expression for it',
		},
	],
	default: 'fields',
	description: 'How to give what is sent: field by field, or as JSON',
};

/** The choice where the API's specification shows no field of the body. */
export const emptyOrJson: INodeProperties = {
	...bodyMode,
	options: [
		{ name: 'Empty', value: 'fields', description: 'Send an empty object' },
		...(bodyMode.options ?? []).slice(1),
	],
	description: 'What to send: nothing in particular, or a body of your own as JSON',
};

/** The choice where the body is a file. */
export const uploadMode: INodeProperties = {
	...bodyMode,
	displayName: 'Send',
	options: [
		{
			name: 'File From Binary Field',
			value: 'fields',
			description: 'Upload a file of the item',
		},
		...(bodyMode.options ?? []).slice(1),
	],
	description: 'What to send: a file of the item, or a JSON body to servers that take one',
};

/** The body as JSON text or an expression. */
export function jsonBodyField(example: string): INodeProperties {
	return {
		displayName: 'JSON Body',
		name: 'jsonBody',
		type: 'json',
		typeOptions: { rows: 8 },
		default: example,
		required: true,
		description: 'The request body as the server takes it, as JSON or an expression',
	};
}

/** The parameter that names a binary field of the item. */
export function binaryFieldName(content: string): INodeProperties {
	return {
		displayName: 'Input Binary Field',
		name: 'binaryPropertyName',
		type: 'string',
		default: 'data',
		required: true,
		hint: `The name of the input field containing ${content}`,
		description: `Name of the binary field of the item that holds ${content}`,
	};
}

/** n8n's pair of Return All and Limit. */
export const returnAll: INodeProperties = {
	displayName: 'Return All',
	name: 'returnAll',
	type: 'boolean',
	default: false,
	description: 'Whether to return all results or only up to a given limit',
};

export const limit: INodeProperties = {
	displayName: 'Limit',
	name: 'limit',
	type: 'number',
	typeOptions: { minValue: 1 },
	default: 50,
	description: 'Max number of results to return',
	displayOptions: { show: { returnAll: [false] } },
};

export const simplify: INodeProperties = {
	displayName: 'Simplify',
	name: 'simplify',
	type: 'boolean',
	default: true,
	description: 'Whether to return a simplified version of the response instead of the raw data',
};

export const DEFAULT_TIMEOUT_SECONDS = 120;

/** How long to wait for the server; n8n's own limit of 300 seconds never applies. */
export function timeoutOption(defaultSeconds = DEFAULT_TIMEOUT_SECONDS): INodeProperties {
	return {
		displayName: 'Timeout (Seconds)',
		name: 'timeout',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: defaultSeconds,
		description: 'How long to wait for the answer to one request',
	};
}

/** Requests of one node at once; more make servers no faster, and may be refused by a proxy. */
export const MOST_AT_ONCE = 20;

/** How many items are worked on at once. */
export function atOnceOption(defaultAtOnce: number): INodeProperties {
	return {
		displayName: 'Requests at Once',
		name: 'concurrency',
		type: 'number',
		typeOptions: { minValue: 1, maxValue: MOST_AT_ONCE, numberPrecision: 0 },
		default: defaultAtOnce,
		description: 'How many items are worked on side by side; the output keeps their order',
	};
}

/** Optional fields in the order n8n's linter wants. Without lodash, which would bring seven files that n8n loads nowhere else. */
export function inOrder(fields: INodeProperties[]): INodeProperties[] {
	return fields.toSorted((one, other) => (one.displayName < other.displayName ? -1 : 1));
}

/** The Options collection, with what an operation adds to it. */
export function optionsField(options: INodeProperties[]): INodeProperties {
	return {
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add option',
		default: {},
		options: inOrder(options),
	};
}

/** Collections that only group optional fields: what is in them belongs to the body itself. */
const CONTAINERS = {
	additionalFields: { displayName: 'Additional Fields', placeholder: 'Add field' },
	updateFields: { displayName: 'Update Fields', placeholder: 'Add field' },
	filters: { displayName: 'Filters', placeholder: 'Add filter' },
};

/** A collection of optional fields of a body. */
export function fieldCollection(
	name: keyof typeof CONTAINERS,
	fields: INodeProperties[],
): INodeProperties {
	return { ...CONTAINERS[name], name, type: 'collection', default: {}, options: fields };
}

/**
 * Fields that are displayed under further conditions only. n8n's own function for it merges deeply, which
 * would take a sixth of the time that the nodes take to load.
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

/** Dropdown entries for the values of an enum of the contract. */
export function enumOptions<Value extends string>(
	values: readonly Value[],
	names: Record<Value, string>,
): INodePropertyOptions[] {
	return values.map((value) => ({ name: names[value], value }));
}
