import { NodeHelpers } from 'n8n-workflow';
import type { INodeParameters, INodeProperties, NodeParameterValueType } from 'n8n-workflow';
import { keys, map } from 'lodash';
import { XpertAi } from '../../../nodes/XpertAi/XpertAi.node';
import { allProperties } from '../../nodes/support/properties';
import { isGroup, isParameter } from '../../package/support/surface';

const { description } = new XpertAi();
const VERSION = { typeVersion: 1 };

/** n8n labels a field mapping itself. */
const MAPPER_LABEL = 'Mapping Column Mode';

/**
 * Parameters that make everything of an operation visible: every optional field is added, every
 * repeated group has one entry.
 */
export function everyParameter(choice: INodeParameters): INodeParameters {
	const { properties } = description;
	const defaults = NodeHelpers.getNodeParameters(
		properties,
		choice,
		true,
		false,
		VERSION,
		description,
	);
	const parameters = { ...defaults, ...choice };
	for (const property of shown(parameters)) {
		if (choice[property.name] === undefined) parameters[property.name] = filled(property);
	}
	return parameters;
}

const shown = (parameters: INodeParameters): INodeProperties[] =>
	description.properties.filter((property) =>
		NodeHelpers.displayParameter(parameters, property, VERSION, description),
	);

/** The labels of the parameters that are visible, in the order of the description. */
export const topLabels = (parameters: INodeParameters): string[] =>
	shown(parameters).map(({ type, displayName }) =>
		type === 'resourceMapper' ? MAPPER_LABEL : displayName,
	);

/** The kinds of fields that are visible, inside of collections too: types, and what they may hold several of. */
export const kindsShown = (parameters: INodeParameters): string[] =>
	allProperties(shown(parameters)).map(({ place, property: { type, typeOptions, modes } }) =>
		JSON.stringify([place.split('.').length, type, keys(typeOptions), map(modes, 'type')]),
	);

function filled(property: INodeProperties): NodeParameterValueType {
	const { type, options = [], typeOptions } = property;
	if (type === 'collection') return valuesOf(options.filter(isParameter));
	if (type !== 'fixedCollection') return property.default;
	const groups = options.filter(isGroup).map(({ name, values }) => {
		const entry = valuesOf(values);
		return [name, typeOptions?.multipleValues ? [entry] : entry];
	});
	return Object.fromEntries(groups) as INodeParameters;
}

const valuesOf = (fields: INodeProperties[]): INodeParameters =>
	Object.fromEntries(fields.map((field) => [field.name, filled(field)]));
