import { NodeHelpers } from 'n8n-workflow';
import type {
	INodeParameters,
	INodeProperties,
	INodePropertyCollection,
	NodeParameterValueType,
} from 'n8n-workflow';
import { XpertAi } from '../../../nodes/XpertAi/XpertAi.node';

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

/** The labels of the parameters that are visible, in the order of the description. */
export function topLabels(parameters: INodeParameters): string[] {
	return shown(parameters).map(labelOf);
}

/** The kinds of fields that are visible, inside of collections too: types, and what they may hold several of. */
export function kindsShown(parameters: INodeParameters): string[] {
	return shown(parameters).flatMap(kindsOf);
}

function kindsOf({ type, options = [], typeOptions, modes }: INodeProperties): string[] {
	const inside = [...fieldsOf(options), ...groupsOf(options).flatMap(({ values }) => values)];
	const own = [type, Object.keys(typeOptions ?? {}), modes?.map(({ type: mode }) => mode)];
	return [JSON.stringify(own), ...inside.flatMap(kindsOf).map((kind) => `${type}: ${kind}`)];
}

function shown(parameters: INodeParameters): INodeProperties[] {
	return description.properties.filter((property) =>
		NodeHelpers.displayParameter(parameters, property, VERSION, description),
	);
}

function labelOf({ type, displayName }: INodeProperties): string {
	return type === 'resourceMapper' ? MAPPER_LABEL : displayName;
}

function filled(property: INodeProperties): NodeParameterValueType {
	const { type, options = [], typeOptions } = property;
	if (type === 'collection') return valuesOf(fieldsOf(options));
	if (type !== 'fixedCollection') return property.default;
	const groups = groupsOf(options).map(({ name, values }) => {
		const entry = valuesOf(values);
		return [name, typeOptions?.multipleValues ? [entry] : entry];
	});
	return Object.fromEntries(groups) as INodeParameters;
}

function valuesOf(fields: INodeProperties[]): INodeParameters {
	return Object.fromEntries(fields.map((field) => [field.name, filled(field)])) as INodeParameters;
}

type Options = NonNullable<INodeProperties['options']>;

function fieldsOf(options: Options): INodeProperties[] {
	return options.filter((option): option is INodeProperties => 'type' in option);
}

function groupsOf(options: Options): INodePropertyCollection[] {
	return options.filter((option): option is INodePropertyCollection => 'values' in option);
}
