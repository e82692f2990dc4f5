import set from 'lodash/set';
import type { INodeParameters, INodeProperties } from 'n8n-workflow';

import type { Operation, Resource } from '../../../nodes/XpertAi/execution/operation';
import { document } from '../../../nodes/XpertAi/payloads/document';
import { documentFieldName } from '../../../nodes/XpertAi/pickers/documentFields';
import { OPERATIONS, propertiesOf } from '../../nodes/support/properties';
import { caseTitled, goodParameters } from './caseOperations';
import { byId } from './locators';

/** The id every good parameter holds. */
export const GOOD_ID = '335ccdfa-d2bb-4f15-9f4a-2b180f46d737';

/** A place in the parameters of an operation that takes a value. */
export interface Target {
	title: string;
	resource: Resource;
	operation: Operation;
	/** Where the value goes, from the outside in. */
	path: Array<string | number>;
	/** Display names that may stand for it in a message: its own and those around it. */
	names: string[];
	/** Parameters of a good call in which it is shown. */
	good: () => INodeParameters;
	/** Turns a value into what stands at the path; none for most. */
	wrap?: (value: unknown) => unknown;
	/** Whether the value is a column of the item and not a parameter. */
	column?: boolean;
}

/** Every place in every operation that takes a value, read off the description of the node. */
export const TARGETS: Target[] = OPERATIONS.flatMap(({ resource, operation, title }) => {
	const properties = propertiesOf(resource, operation);
	const places = properties.flatMap((property) => {
		const good = () => shownParameters(resource, operation, properties, property);
		return placesIn(property, [], []).map((place) => ({ ...place, good }));
	});
	return [...places, ...columns(title, properties)].map((place) => ({
		...place,
		title: `${title}: ${place.column ? 'column ' : ''}${place.path.join('.')}`,
		resource,
		operation,
	}));
});

/** Places of the same operation, by its title. */
export const TARGETS_BY_OPERATION = OPERATIONS.map(({ resource, operation, title }) => ({
	title,
	targets: TARGETS.filter((one) => one.operation === operation && one.resource === resource),
}));

type Place = Pick<Target, 'path' | 'names' | 'wrap' | 'column'>;

/** The property itself and what is inside it. */
function placesIn(property: INodeProperties, above: Target['path'], namesAbove: string[]): Place[] {
	const path = [...above, property.name];
	const names = [...namesAbove, property.displayName];
	return [{ path, names }, ...innerPlaces(property, path, names)];
}

function innerPlaces(property: INodeProperties, path: Target['path'], names: string[]): Place[] {
	switch (property.type) {
		case 'resourceLocator':
			return ['mode', 'value'].map((key) => ({ path: [...path, key], names }));
		case 'resourceMapper':
			return [
				...['mappingMode', 'value'].map((key) => ({ path: [...path, key], names })),
				...Object.keys(document.shape).map((field) => ({
					path: [...path, 'value', field],
					names: [...names, documentFieldName(field)],
				})),
			];
		case 'json':
			return jsonPlaces(property, path, names);
		case 'collection':
		case 'fixedCollection':
			return (property.options ?? []).flatMap((option) => {
				if ('type' in option) return placesIn(option, path, names);
				if (!('values' in option)) return [];
				const group = [...path, option.name];
				const entry = property.typeOptions?.multipleValues ? [...group, 0] : group;
				return [
					{ path: group, names },
					...option.values.flatMap((inner) => placesIn(inner, entry, names)),
				];
			});
		default:
			return [];
	}
}

/** JSON comes as text as well, and a body has keys the server knows. */
function jsonPlaces(property: INodeProperties, path: Target['path'], names: string[]): Place[] {
	const example: unknown = JSON.parse(String(property.default));
	const [first] = [example].flat();
	const keys = typeof first === 'object' && first !== null ? Object.keys(first) : ['a'];
	return [
		{ path, names, wrap: (value) => textOf(value) },
		...keys.map((key) => ({ path, names, wrap: (value: unknown) => ({ [key]: value }) })),
		...keys.map((key) => ({ path, names, wrap: (value: unknown) => [{ [key]: value }] })),
	];
}

/** JSON text of a value, or the value where it has none. */
function textOf(value: unknown): unknown {
	try {
		return JSON.stringify(value) ?? value;
	} catch {
		return value;
	}
}

/** With automatic mapping, each column of the input item is a place too. */
function columns(
	title: string,
	properties: INodeProperties[],
): Array<Place & Pick<Target, 'good'>> {
	const mapper = properties.find(({ type }) => type === 'resourceMapper');
	if (!mapper) return [];
	const [resource = '', operation = ''] = title.split(': ');
	return [...Object.keys(document.shape), 'constructor', 'toString', 'hasOwnProperty'].map(
		(field) => ({
			path: [field],
			names: [field in document.shape ? documentFieldName(field) : field, field],
			column: true,
			good: () => ({
				resource,
				operation,
				knowledgebaseId: byId(GOOD_ID),
				source: 'fields',
				documentFields: { mappingMode: 'autoMapInputData', value: null },
			}),
		}),
	);
}

const GOOD_VALUES: INodeParameters = {
	name: 'Manuals',
	message: 'hello',
	conversationKey: 'ann@example.com',
	documentFields: { mappingMode: 'defineBelow', value: { name: 'a document' } },
	documentIds: GOOD_ID,
	documentKey: 'key',
	documentSettings: { name: 'Manuals' },
	namespace_prefix: 'memories',
	runId: GOOD_ID,
	text: 'Some text. And more of it.',
	threadSource: 'existing',
	url: 'https://example.com/a.md',
};

/** What must be set as well for a parameter to be of any consequence. */
const COMPANIONS: Record<string, INodeParameters> = {
	'submit.options': { mode: 'changed' },
	'run.options': { threadSource: 'new' },
};

/** Good values for all parameters, and the switches set so that one of them is shown. */
function shownParameters(
	resource: Resource,
	operation: Operation,
	properties: INodeProperties[],
	shown: INodeProperties,
): INodeParameters {
	const parameters: INodeParameters = {};
	const good = goodParameters(caseTitled(`${resource.value}: ${operation.value}`));
	for (const { name, type, required, default: initial } of properties) {
		const given = GOOD_VALUES[name] ?? (required && initial === '' ? good[name] : undefined);
		parameters[name] =
			type === 'resourceLocator'
				? byId(GOOD_ID)
				: structuredClone((given ?? initial) as INodeParameters[string]);
	}
	const companions = structuredClone(COMPANIONS[`${operation.value}.${shown.name}`] ?? {});
	Object.assign(parameters, companions, { resource: resource.value, operation: operation.value });
	for (const [name, values] of Object.entries(shown.displayOptions?.show ?? {})) {
		if (name !== 'resource' && name !== 'operation')
			set(parameters, name, Array.isArray(values) ? values[0] : values);
	}
	return parameters;
}

/** The parameters of a call, and the columns of its item, with a value in one place. */
export function placed(
	{ good, path, wrap, column }: Target,
	value: unknown,
): { parameters: INodeParameters; json: Record<string, unknown> } {
	const parameters = good();
	const json: Record<string, unknown> = { name: 'a document' };
	const content = wrap ? wrap(value) : value;
	set(column ? json : parameters, path, content);
	return { parameters, json };
}
