import { set } from 'lodash';
import type { INodeParameters, INodeProperties } from 'n8n-workflow';

import type { Operation, Resource } from '../../../nodes/XpertAi/execution/operation';
import { documentSchema } from '../../../nodes/XpertAi/payloads/document';
import { documentFieldLabel } from '../../../nodes/XpertAi/pickers/documentFields';
import { propertiesOf } from '../../nodes/support/properties';
import { caseTitled, goodParameters } from './caseOperations';
import { byId } from './locators';
import { ID } from './records';

/** A place in the parameters of an operation that takes a value. */
export interface Place {
	/** From the outside in. */
	path: Array<string | number>;
	/** Display names that may stand for it in a message: its own and those around it. */
	names: string[];
	/** Parameters of a good call in which it is shown. */
	good: INodeParameters;
	/** Turns a value into what stands at the path. */
	wrap?: (value: unknown) => unknown;
	/** Whether the value is a column of the item and not a parameter. */
	isColumn?: boolean;
}

type Inner = Omit<Place, 'good'>;

/** Every place of an operation that takes a value, read off the description of the node. */
export function placesOf(resource: Resource, operation: Operation): Place[] {
	const properties = propertiesOf(resource, operation);
	const places = properties.flatMap((property) => {
		const good = shownParameters(resource, operation, properties, property);
		return placesIn(property).map((place) => ({ ...place, good }));
	});
	const mapper = properties.find(({ type }) => type === 'resourceMapper');
	if (!mapper) return places;
	const mapped = shownParameters(resource, operation, properties, mapper);
	const good = { ...mapped, documentFields: { mappingMode: 'autoMapInputData', value: null } };
	const columns = [
		...Object.keys(documentSchema.shape),
		'constructor',
		'toString',
		'hasOwnProperty',
	];
	return [
		...places,
		...columns.map((name) => ({
			path: [name],
			good,
			isColumn: true,
			names: [name in documentSchema.shape ? documentFieldLabel(name) : name, name],
		})),
	];
}

/** The property itself and what is inside it. */
function placesIn(property: INodeProperties, above: Place['path'] = [], about: string[] = []) {
	const path = [...above, property.name];
	const names = [...about, property.displayName];
	const within = (key: string): Inner => ({ path: [...path, key], names });
	const places: Inner[] = [{ path, names }];
	if (property.type === 'resourceLocator') places.push(...['mode', 'value'].map(within));
	if (property.type === 'resourceMapper') {
		places.push(...['mappingMode', 'value'].map(within));
		for (const field of Object.keys(documentSchema.shape))
			places.push({
				path: [...path, 'value', field],
				names: [...names, documentFieldLabel(field)],
			});
	}
	if (property.type === 'json') {
		const [example] = [JSON.parse(String(property.default)) as unknown].flat();
		for (const key of Object.keys(Object(example)))
			places.push(
				{ path, names, wrap: (value) => ({ [key]: value }) },
				{ path, names, wrap: (value) => [{ [key]: value }] },
			);
		places.push({ path, names, wrap: jsonText });
	}
	if (property.type === 'collection' || property.type === 'fixedCollection')
		for (const option of property.options ?? []) {
			if ('type' in option) places.push(...placesIn(option, path, names));
			if (!('values' in option)) continue;
			const group = [...path, option.name];
			const entry = property.typeOptions?.multipleValues ? [...group, 0] : group;
			places.push({ path: group, names });
			places.push(...option.values.flatMap((one): Inner[] => placesIn(one, entry, names)));
		}
	return places;
}

/** JSON text of a value, or the value where it has none. */
function jsonText(value: unknown): unknown {
	try {
		return JSON.stringify(value) ?? value;
	} catch {
		return value;
	}
}

const GOOD_VALUES: INodeParameters = {
	name: 'Manuals',
	message: 'hello',
	conversationKey: 'ann@example.com',
	documentFields: { mappingMode: 'defineBelow', value: { name: 'a document' } },
	documentIds: ID,
	documentKey: 'key',
	documentSettings: { folder: 'Manuals' },
	namespace_prefix: 'memories',
	runId: ID,
	text: 'Some text. And more of it.',
	threadSource: 'existing',
	url: 'https://example.com/a.md',
};

/** What must be set as well for a parameter to be of any consequence. */
const COMPANIONS: Record<string, INodeParameters> = {
	'submit.options': { mode: 'changed' },
	'submit.tuning': { mode: 'changed' },
	'run.options': { threadSource: 'new' },
};

/** Good values for all parameters, and the switches set so that one of them is shown. */
function shownParameters(
	{ value: resource }: Resource,
	{ value: operation }: Operation,
	properties: INodeProperties[],
	shown: INodeProperties,
): INodeParameters {
	const good = goodParameters(caseTitled(`${resource}: ${operation}`));
	const parameters: INodeParameters = {};
	for (const { name, type, required, default: initial } of properties) {
		const given = GOOD_VALUES[name] ?? (required && initial === '' ? good[name] : undefined);
		parameters[name] =
			type === 'resourceLocator' ? byId(ID) : ((given ?? initial) as INodeParameters[string]);
	}
	Object.assign(parameters, COMPANIONS[`${operation}.${shown.name}`], { resource, operation });
	for (const [name, values] of Object.entries(shown.displayOptions?.show ?? {})) {
		if (name !== 'resource' && name !== 'operation')
			set(parameters, name, Array.isArray(values) ? values[0] : values);
	}
	return structuredClone(parameters);
}
