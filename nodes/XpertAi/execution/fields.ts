import type {
	IDisplayOptions,
	INodeProperties,
	INodePropertyOptions,
	INodeType,
} from 'n8n-workflow';

/** A parameter of the editor, with the list searches and the like that it needs. */
export interface Field extends INodeProperties {
	methods?: INodeType['methods'];
}

/** Values read from the fields of an item, by field name. */
export type FieldValues = Record<string, unknown>;

/** Drops the values of empty fields. */
export function filledOnly(values: FieldValues): FieldValues {
	return Object.fromEntries(
		Object.entries(values).filter(([, value]) => value !== undefined && value !== ''),
	);
}

/**
 * Where the user chooses and writes a JSON body. Both are in Options: outside a collection, n8n drops a field whose
 * display depends on a field inside one.
 */
export const BODY_MODE = 'options.bodyMode';
export const JSON_BODY = 'options.jsonBody';

const WITH_OWN_BODY = ['json'];

/** The choice between fields and a JSON body. */
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

const ofTools = { '@tool': [true] };

export const simplify: INodeProperties = {
	displayName: 'Simplify',
	name: 'simplify',
	type: 'boolean',
	default: true,
	displayOptions: { hide: ofTools },
	description: 'Whether to return a simplified version of the response instead of the raw data',
};

/** What the model of an agent gets, in place of Simplify (n8n's UX guidelines). */
export const toolOutput: INodeProperties = {
	displayName: 'Output',
	name: 'toolOutput',
	type: 'options',
	options: [
		{ name: 'Simplified', value: 'simplified' },
		{ name: 'Raw', value: 'raw' },
		{ name: 'Selected Fields', value: 'selected' },
	],
	default: 'simplified',
	description: 'What the model gets: each word of it costs tokens',
	displayOptions: { show: ofTools },
};

export const toolFields: INodeProperties = {
	displayName: 'Fields',
	name: 'toolFields',
	type: 'string',
	default: '',
	required: true,
	placeholder: 'e.g. name, status',
	description: 'The fields of the raw output to give, separated by commas',
	displayOptions: { show: { ...ofTools, toolOutput: ['selected'] } },
};

/** What `readAnswerOutput` reads. */
export const answerOutput: INodeProperties[] = [simplify, toolOutput, toolFields];

export const DEFAULT_TIMEOUT_SECONDS = 120;

/** The timeout for one request; n8n's own limit of 300 seconds never applies. */
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

/** More requests at once make servers no faster, and a proxy may refuse them. */
const MOST_AT_ONCE = 20;

/** How many items run at once. */
export const atOnceOption: INodeProperties = {
	displayName: 'Requests at Once',
	name: 'concurrency',
	type: 'number',
	typeOptions: { minValue: 1, maxValue: MOST_AT_ONCE, numberPrecision: 0 },
	default: 1,
	description: 'How many items are worked on side by side; the output keeps their order',
};

/**
 * Sorts optional fields as n8n's linter requires. Without lodash, whose sorting would load seven more files at startup.
 */
export function inPanelOrder(fields: INodeProperties[]): INodeProperties[] {
	return fields.toSorted((one, other) => one.displayName.localeCompare(other.displayName, 'en'));
}

/**
 * The Options collection of an operation.
 *
 * @param ownBody the options for a JSON body, which come last
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

/** Collections that only group optional fields: their fields belong to the body itself. */
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

/** Dropdown entries for an enum of the contract. */
export function enumOptions<Value extends string>(
	values: readonly Value[],
	names: Record<Value, string>,
): INodePropertyOptions[] {
	return values.map((value) => ({ name: names[value], value }));
}

/** The options for a JSON body. They come last, as few users need them. */
export const ownBodyOptions = (example: string): INodeProperties[] => [
	bodyMode,
	jsonBodyOption(example),
];

/** The option with the JSON body. */
export function jsonBodyOption(example: string): INodeProperties {
	return {
		...jsonBodyField(example),
		required: undefined,
		description: 'The whole request body as JSON, in place of the fields',
		displayOptions: { show: { bodyMode: WITH_OWN_BODY } },
	};
}

/**
 * Hides fields while a JSON body is chosen. Uses `hide`, not `show`: n8n resolves parameters without looking into
 * collections.
 */
export function withoutOwnBody<Shown extends INodeProperties>(fields: Shown[]): Shown[] {
	// n8n 1 finds a field inside a collection only from the root.
	return displayedIf({ hide: { [`/${BODY_MODE}`]: WITH_OWN_BODY } }, fields);
}

/** The same for fields inside Options. */
export function optionsWithoutOwnBody(options: INodeProperties[]): INodeProperties[] {
	return displayedIf({ hide: { bodyMode: WITH_OWN_BODY } }, options);
}
