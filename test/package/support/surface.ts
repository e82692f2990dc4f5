import {
	groupBy,
	isEmpty,
	isMatch,
	isPlainObject,
	mapValues,
	omit,
	pick,
	pickBy,
	sortBy,
} from 'lodash';
import { NodeHelpers } from 'n8n-workflow';
import type {
	ICredentialType,
	IDisplayOptions,
	INodeProperties,
	INodePropertyCollection,
	INodePropertyOptions,
	INodeType,
	NodeParameterValue,
} from 'n8n-workflow';

/** What saved workflows and credentials rely on, without any text that is only shown. Keys are in order. */
export type Surface = Record<string, unknown>;

type Option = NonNullable<INodeProperties['options']>[number];

/** Of a node in one of its versions: what a workflow that was saved with it holds. */
export async function nodeSurface(
	{ description, methods }: INodeType,
	version: number,
): Promise<Surface> {
	const mapped = Object.entries(methods?.resourceMapping ?? {}).map(async ([name, method]) => {
		const { fields } = await method.call({} as never);
		return [
			name,
			fieldsByName(fields.map(({ id, type = 'any' }) => ({ name: id, type }))),
		] as const;
	});
	return inOrder({
		...pick(description, 'name', 'credentials', 'inputs', 'outputs', 'usableAsTool', 'polling'),
		version,
		parameters: byOperation(description.properties, version),
		mappedFields: Object.fromEntries(await Promise.all(mapped)),
	});
}

/** Of a credential, which has no versions. */
export function credentialSurface({ name, properties }: ICredentialType): Surface {
	return inOrder({ name, parameters: parameters(properties, 1) });
}

const OPERATION = ['resource', 'operation'] as const;

/** Parameters below the operation they are shown for, e.g. `document.submit`. */
function byOperation(properties: INodeProperties[], version: number): Surface {
	const offered = new Set(properties.filter(({ name }) => name === 'operation').flatMap(offeredBy));
	// A parameter that several resources share names all their operations, those of each other too.
	const isThere = (owner: string) => !owner.includes('.') || offered.has(owner);
	const owned = properties.flatMap((property) =>
		ownersOf(property)
			.filter(isThere)
			.map((owner) => ({ owner, property })),
	);
	return mapValues(groupBy(owned, 'owner'), (own) =>
		parameters(
			own.map(({ property }) => property),
			version,
		),
	);
}

/** The operations that a list of operations offers. */
function offeredBy({
	displayOptions: { show = {} } = {},
	options = [],
}: INodeProperties): string[] {
	return (show.resource ?? []).flatMap((resource) =>
		options.filter(isValue).map(({ value }) => `${String(resource)}.${String(value)}`),
	);
}

/** The operations a parameter is shown for; the lists of resources and operations belong to none. */
function ownersOf({ displayOptions: { show = {} } = {} }: INodeProperties): string[] {
	const [resources, operations] = OPERATION.map((name) => show[name] ?? []);
	if (!operations?.length) return [resources?.join('.') ?? ''];
	return (resources ?? []).flatMap((resource) =>
		operations.map((operation) => `${String(resource)}.${String(operation)}`),
	);
}

/** Parameters by name; one that several stand for, each under other conditions, is a list. */
function parameters(properties: INodeProperties[], version: number): Surface {
	const own = properties.filter((one) => isIn(one, version));
	return mapValues(groupBy(own, 'name'), (all) => {
		const surfaces = sortBy(
			all.map((one) => parameter(one, version)),
			(one) => JSON.stringify(one),
		);
		return surfaces.length === 1 ? surfaces[0] : surfaces;
	});
}

function parameter(property: INodeProperties, version: number): Surface {
	const { type, default: initial, required, typeOptions, displayOptions, modes } = property;
	const options = (property.options ?? []).filter((one) => isIn(one, version));
	return filled({
		type,
		default: initial,
		required,
		multiple: typeOptions?.multipleValues,
		modes: modes && fieldsByName(modes),
		values: options.filter(isValue).map(({ value }) => value),
		fields: parameters(options.filter(isParameter), version),
		groups: Object.fromEntries(
			options.filter(isGroup).map(({ name, values }) => [name, parameters(values, version)]),
		),
		shown: conditions(displayOptions?.show),
		hidden: conditions(displayOptions?.hide),
	});
}

const isValue = (option: Option): option is INodePropertyOptions => 'value' in option;
export const isParameter = (option: Option): option is INodeProperties => 'type' in option;
export const isGroup = (option: Option): option is INodePropertyCollection => 'values' in option;

const fieldsByName = (fields: Array<{ name: string; type: string }>) =>
	Object.fromEntries(fields.map(({ name, type }) => [name, type]));

const conditions = (given: IDisplayOptions['show'] = {}) => omit(given, [...OPERATION, '@version']);

const filled = (surface: Surface): Surface =>
	pickBy(surface, (value, key) => {
		if (key === 'default') return true;
		return value !== undefined && value !== false && (typeof value !== 'object' || !isEmpty(value));
	});

/** Whether a version has it: conditions on `@version` are how light versioning tells versions apart. */
function isIn(given: Option, version: number): boolean {
	const { show = {}, hide = {} } = ('displayOptions' in given && given.displayOptions) || {};
	const holds = (conditions: NonNullable<IDisplayOptions['show']>) =>
		NodeHelpers.checkConditions((conditions['@version'] ?? []) as NodeParameterValue[], [version]);
	return (!show['@version'] || holds(show)) && !(hide['@version'] && holds(hide));
}

/** Objects with their keys in order, so that moving a parameter changes nothing. */
function inOrder(value: Surface): Surface;
function inOrder(value: unknown): unknown;
function inOrder(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(inOrder);
	if (!isPlainObject(value)) return value;
	const entries = Object.entries(value as Surface).filter(([, one]) => one !== undefined);
	return Object.fromEntries(sortBy(entries, '0').map(([key, one]) => [key, inOrder(one)]));
}

/** Whether all that was saved still means the same: what there was is there, shown under the same conditions. */
export const keeps = (before: Surface, now: Surface): boolean =>
	isMatch(withConditions(now) as object, withConditions(before) as object);

/** Conditions as one text for each parameter, so that no condition counts as an addition. */
function withConditions(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(withConditions);
	if (!isPlainObject(value)) return value;
	const parts = mapValues(value as Surface, withConditions);
	if (!('default' in parts)) return parts;
	const conditions = pick(parts, 'shown', 'hidden', 'required');
	return { ...omit(parts, Object.keys(conditions)), conditions: JSON.stringify(conditions) };
}

/** A longer parameter takes a line for each of its fields. */
const LONGEST_LINE = 400;

/** JSON with one line a parameter, so that a difference shows which one has changed. */
export function surfaceText(value: unknown, depth = 0): string {
	const oneLine = JSON.stringify(value);
	const isShort = depth > 2 && oneLine.length <= LONGEST_LINE;
	if (isShort || isEmpty(value) || !isPlainObject(value)) return oneLine;
	const indent = '\t'.repeat(depth);
	const parts = Object.entries(value as Surface).map(
		([key, one]) => `${indent}\t${JSON.stringify(key)}: ${surfaceText(one, depth + 1)}`,
	);
	return `{\n${parts.join(',\n')}\n${indent}}`;
}
