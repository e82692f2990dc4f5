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

/**
 * Where a body of one's own is chosen, and where it is given. Both are in Options: n8n drops a field outside a
 * collection that is shown by what the collection holds.
 */
export const BODY_MODE = 'options.bodyMode';
export const JSON_BODY = 'options.jsonBody';

const WITH_OWN_BODY = ['json'];

/** The choice between the fields of an operation and a body of one's own. */
export const bodyMode: INodeProperties = {
	displayName: 'Body',
	name: 'bodyMode',
	type: 'options',
	noDataExpression: true,
	options: [
		{ name: 'Fields', value: 'fields' },
		{ name: 'JSON', value: 'json' },
	],
	default: 'fields',
	description: 'What is sent: what the fields say, or the option JSON Body',
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
export function inPanelOrder(fields: INodeProperties[]): INodeProperties[] {
	return fields.toSorted((one, other) => one.displayName.localeCompare(other.displayName, 'en'));
}

/**
 * The Options collection, with what an operation adds to it.
 *
 * @param ownBody the options of a body of one's own, which come last
 */
export function optionsField(
	options: INodeProperties[],
	ownBody: INodeProperties[] = [],
): INodeProperties {
	return {
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add option',
		default: {},
		options: [...inPanelOrder(options), ...ownBody],
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

/** The options of a body of one's own, which come last: they are the way out, not the entrance. */
export const ownBodyOptions = (example: string): INodeProperties[] => [
	bodyMode,
	...jsonBodyOption(example),
];

/** The body itself, beside that choice. */
export function jsonBodyOption(example: string): INodeProperties[] {
	const jsonBody = {
		...jsonBodyField(example),
		required: undefined,
		description: 'The whole request body as JSON, in place of the fields',
	};
	return displayedIf({ show: { [bodyMode.name]: WITH_OWN_BODY } }, [jsonBody]);
}

/**
 * Fields that are there unless the body is one's own. They are hidden with it and not shown without it:
 * n8n resolves parameters without looking into collections.
 */
export function withoutOwnBody<Shown extends INodeProperties>(fields: Shown[]): Shown[] {
	return displayedIf({ hide: { [BODY_MODE]: WITH_OWN_BODY } }, fields);
}

/** The same for options, which stand beside that choice. */
export function optionsWithoutOwnBody(options: INodeProperties[]): INodeProperties[] {
	return displayedIf({ hide: { [bodyMode.name]: WITH_OWN_BODY } }, options);
}
