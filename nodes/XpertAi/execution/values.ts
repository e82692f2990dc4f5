import isEmpty from 'lodash/isEmpty';
import isEqual from 'lodash/isEqual';
import { validateFieldType } from 'n8n-workflow';
import type {
	INodeProperties,
	INodePropertyCollection,
	NodeParameterValueType,
} from 'n8n-workflow';
import { z } from 'zod';
import type { AnyZodObject } from 'zod';

import { exactJson } from '../payloads/common';
import { isJsonObject } from '../transport/answer';
import { checked, fieldNamed } from './badInput';
import type { Refuse } from './badInput';
import { filledOnly, isContainer } from './fields';
import type { FieldValues } from './fields';
import { chosenId } from './ids';

/**
 * Converts the raw values of editor fields to plain values, by name. Grouping collections are flattened, other groups
 * become objects or lists of objects, JSON is parsed, and numbers and booleans given as text are converted. Empty
 * fields are dropped.
 *
 * @param raw the raw values from n8n, by field name
 */
export function fieldValues(
	refuse: Refuse,
	fields: INodeProperties[],
	raw: Record<string, unknown>,
): FieldValues {
	return filledOnly(readGroup(refuse, fields, raw));
}

/** Parses a JSON parameter; an expression may give a parsed value. */
export function parsedJson(refuse: Refuse, displayName: string, raw: unknown): unknown {
	if (typeof raw !== 'string') return raw ?? undefined;
	// `trim` also removes a byte order mark.
	const text = raw.trim();
	if (text === '') return undefined;
	try {
		return exactJson(text);
	} catch (error) {
		const why = error instanceof Error ? error.message : 'not JSON';
		return refuse({ subject: `"${displayName}"`, demand: `must be JSON (${why})`, value: raw });
	}
}

type FieldEntry = NonNullable<INodeProperties['options']>[number];

function readGroup(refuse: Refuse, entries: FieldEntry[], raw: unknown): FieldValues {
	const values: FieldValues = {};
	if (!isJsonObject(raw)) return values;
	for (const entry of entries) {
		if (!('type' in entry) || !Object.hasOwn(raw, entry.name)) continue;
		const value = readValue(refuse, entry, raw[entry.name]);
		if (isContainer(entry)) Object.assign(values, value);
		else if (value !== undefined) values[entry.name] = value;
	}
	return values;
}

/** Converts the raw value of a field to a plain value. */
export function readValue(refuse: Refuse, field: INodeProperties, raw: unknown): unknown {
	if (raw === undefined || raw === null) return raw ?? undefined;
	switch (field.type) {
		case 'json':
			return parsedJson(refuse, field.displayName, raw);
		case 'number':
			return atMost(refuse, field, typedValue('number', raw));
		case 'boolean':
			return typedValue('boolean', raw);
		case 'string':
			return field.typeOptions?.multipleValues ? raw : typedValue('string', raw);
		case 'dateTime':
			return raw === '' ? undefined : isoText(raw);
		case 'multiOptions':
			return checked(refuse, optionList, raw, { parameter: field.displayName });
		case 'resourceLocator':
			return chosenId(raw) ?? undefined;
		case 'collection':
			return readCollection(refuse, field, raw);
		case 'fixedCollection':
			return readFixedCollection(refuse, field, raw);
		default:
			return raw;
	}
}

/** Refuses a number above the maximum of its field, which the editor checks only for typed numbers. */
function atMost(
	refuse: Refuse,
	{ displayName, typeOptions: { maxValue = Infinity } = {} }: INodeProperties,
	value: unknown,
): unknown {
	const isMore = typeof value === 'number' && value > maxValue;
	const flaw = { subject: `"${displayName}"`, demand: `must be at most ${maxValue}`, value };
	return isMore ? refuse(flaw) : value;
}

/** Reads a collection; an expression may give the whole of it, also as JSON text. */
function readCollection(refuse: Refuse, field: INodeProperties, raw: unknown): unknown {
	const { displayName, options = [] } = field;
	const group = parsedJson(refuse, displayName, raw);
	if (group === undefined || isEqual(group, [])) return undefined;
	const within = isContainer(field) ? '' : ` in "${displayName}"`;
	const refuseHere: Refuse = (flaw) => refuse({ ...flaw, subject: flaw.subject + within });
	if (isJsonObject(group)) return filledGroup(refuseHere, options, group);
	return refuse({
		subject: `"${displayName}"`,
		demand: 'must be an object (JSON)',
		value: raw,
	});
}

/** Reads a group; undefined if all its fields are empty, as servers would take an empty object for a value. */
function filledGroup(refuse: Refuse, entries: FieldEntry[], raw: unknown): FieldValues | undefined {
	const values = filledOnly(readGroup(refuse, entries, raw));
	return isEmpty(values) ? undefined : values;
}

/** Reads a fixed collection, of which each field has one kind of group. */
function readFixedCollection(refuse: Refuse, field: INodeProperties, raw: unknown): unknown {
	const group = (field.options ?? []).find(
		(entry): entry is INodePropertyCollection => 'values' in entry,
	);
	const content = isJsonObject(raw) && group ? raw[group.name] : undefined;
	if (!group || content === undefined) return undefined;
	if (!Array.isArray(content)) return readGroup(refuse, group.values, content);
	const entries = content.flatMap((entry) => filledGroup(refuse, group.values, entry) ?? []);
	return entries.length > 0 ? entries : undefined;
}

/** Converts a value to the type of its field. */
export function typedValue(type: 'string' | 'number' | 'boolean', raw: unknown): unknown {
	if (type === 'string') {
		const text = isoText(raw);
		return typeof text === 'number' || typeof text === 'boolean' ? String(text) : text;
	}
	if (typeof raw !== 'string' || raw.trim() === '') return raw;
	const parsed = validateFieldType('value', raw, type);
	return parsed.valid ? parsed.newValue : raw;
}

const optionList = z.array(z.string());

/** The text that n8n makes of a luxon DateTime in a parameter. */
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d$/;

/** Converts a Date or luxon DateTime to ISO 8601 in UTC, ending in `Z`; returns anything else unchanged. */
export function utcText(raw: unknown): unknown {
	const text = isoText(raw);
	const isDate = typeof text === 'string' && (text !== raw || DATE_TIME.test(text));
	return isDate ? new Date(text).toISOString() : raw;
}

/** Converts a Date or luxon DateTime to ISO 8601; returns anything else unchanged. */
export function isoText(raw: unknown): unknown {
	if (raw instanceof Date) return Number.isNaN(raw.getTime()) ? raw : raw.toISOString();
	if (isJsonObject(raw) && typeof raw.toISO === 'function') return (raw.toISO() as unknown) ?? raw;
	return raw;
}

/** Reads a parameter from n8n; `initial` stands for one that the workflow does not set. */
type ReadParameter = (name: string, initial: NodeParameterValueType) => unknown;

/**
 * Reads the settings of a node, such as Options.
 *
 * @param schema its keys are parameter names; numbers without a limit need `finite`
 * @param fields the fields of the node, whose defaults stand for missing or empty values
 * @param refuse called with the first value that does not match the schema
 * @throws what `refuse` throws
 */
export function readSettings<Schema extends AnyZodObject>(
	schema: Schema,
	fields: INodeProperties[],
	read: ReadParameter,
	refuse: Refuse,
): z.output<Schema> {
	const own = Object.keys(schema.shape).flatMap((name) => fieldNamed(name, fields) ?? []);
	const raw = own.map(({ name, default: initial }) => [name, read(name, initial)] as const);
	const given = fieldValues(refuse, own, Object.fromEntries(raw));
	return checked(refuse, schema, withDefaults(own, given), { fields });
}

/** The values of fields, or their defaults, also in collections; a resource locator has none. */
function withDefaults(entries: FieldEntry[], given: FieldValues): FieldValues {
	const fields = entries.filter((entry): entry is INodeProperties => 'type' in entry);
	const values = fields.map(({ name, type, options = [], default: initial }) => {
		const value = given[name];
		if (type === 'collection') return [name, withDefaults(options, (value ?? {}) as FieldValues)];
		return [name, value ?? (type === 'resourceLocator' ? undefined : initial)];
	});
	return Object.fromEntries(values) as FieldValues;
}
