import type { INodeProperties, INodePropertyMode, INodePropertyOptions } from 'n8n-workflow';

/** Names the editor shows for parameters that several operations share. */
export const DISPLAY_NAMES = {
	knowledgebaseId: 'Knowledgebase',
	threadId: 'Thread',
	assistantId: 'Assistant',
	fileId: 'File',
	documentIds: 'Document IDs',
	jsonBody: 'JSON Body',
	timeout: 'Timeout (Seconds)',
} as const;

type IdName = 'knowledgebaseId' | 'threadId' | 'assistantId' | 'fileId';

/** What an ID looks like. */
export const ID_PLACEHOLDER = 'e.g. 335ccdfa-d2bb-4f15-9f4a-2b180f46d737';

/** List searches of the records that a contract endpoint can list. */
const LIST_METHODS: Partial<Record<IdName, string>> = {
	assistantId: 'searchAssistants',
	threadId: 'searchThreads',
};

/** What to enter where a record has several ids. */
const ID_HINTS: Partial<Record<IdName, string>> = {
	fileId: 'Enter the storageFileId that File Context: Create gave',
};

/** The field that chooses one record: from a list where the API has one, and by its id. */
export function idField(name: IdName, description: string, required = true): INodeProperties {
	const searchListMethod = LIST_METHODS[name];
	return {
		displayName: DISPLAY_NAMES[name],
		name,
		type: 'resourceLocator',
		default: { mode: searchListMethod ? 'list' : 'id', value: '' },
		required,
		description,
		modes: [
			...(searchListMethod ? listModes(searchListMethod) : []),
			...idModes(ID_HINTS[name] ?? 'Enter the ID, or paste the URL of its page'),
		],
	};
}

/** The linter takes a mode for a parameter, which needs a default, unless it stands under `modes`. */
function idModes(hint: string): INodePropertyMode[] {
	const { modes } = {
		modes: [
			{
				displayName: 'By ID',
				name: 'id',
				type: 'string' as const,
				placeholder: ID_PLACEHOLDER,
				hint,
			},
		],
	};
	return modes;
}

function listModes(searchListMethod: string): INodePropertyMode[] {
	const { modes } = {
		modes: [
			{
				displayName: 'From List',
				name: 'list',
				type: 'list' as const,
				typeOptions: { searchListMethod, searchable: true },
			},
		],
	};
	return modes;
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
			description: 'Give the whole request body as JSON or an expression',
		},
	],
	default: 'fields',
	description: 'Whether to fill in fields or to give the whole request body as JSON',
};

/** The choice where the API's specification shows no field of the body. */
export const emptyOrJson: INodeProperties = {
	...bodyMode,
	options: [
		{ name: 'Empty', value: 'fields', description: 'Send an empty object' },
		...(bodyMode.options ?? []).slice(1),
	],
	description: 'Whether to send an empty body or one of your own as JSON',
};

/** The body as JSON text or an expression. */
export function jsonBodyField(example: string): INodeProperties {
	return {
		displayName: DISPLAY_NAMES.jsonBody,
		name: 'jsonBody',
		type: 'json',
		typeOptions: { rows: 8 },
		default: example,
		required: true,
		description:
			'The request body exactly as the server takes it, as JSON or an expression that gives it',
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

export const DEFAULT_LIMIT = Number(limit.default);

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
		displayName: DISPLAY_NAMES.timeout,
		name: 'timeout',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: defaultSeconds,
		description: 'How long to wait for the answer to one request',
	};
}

/** The Options collection, with what an operation adds to it. */
export function optionsField(options: INodeProperties[]): INodeProperties {
	return {
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add option',
		default: {},
		options,
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
