import assignWith from 'lodash/assignWith';
import isEmpty from 'lodash/isEmpty';
import isEqual from 'lodash/isEqual';
import isPlainObject from 'lodash/isPlainObject';
import omitBy from 'lodash/omitBy';
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
import type { Flaw } from './badInput';
import { isContainer } from './fields';
import type { FieldValues } from './fields';
import { chosenId } from './ids';

/** Ends the reading of an item because of a value. */
export type Refuse = (flaw: Flaw) => never;

/**
 * Makes plain values, by name, of what n8n gives for fields of the editor. Collections that only group
 * fields are laid flat, other groups become objects (or lists of objects), JSON fields are parsed, and
 * numbers and switches that an expression gave as text become what they say. Fields left empty are left out.
 *
 * @param raw what n8n gives for each field, by its name
 */
export function fieldValues(
	refuse: Refuse,
	fields: INodeProperties[],
	raw: Record<string, unknown>,
): FieldValues {
	return omitBy(readGroup(refuse, fields, raw), isEmptyText);
}

function isEmptyText(value: unknown): boolean {
	return value === '';
}

/** Parses a JSON parameter, which may be text or, from an expression, a value already. */
export function parsedJson(refuse: Refuse, displayName: string, raw: unknown): unknown {
	if (typeof raw !== 'string') return raw ?? undefined;
	// Without a byte order mark, too, which files begin with.
	const text = raw.trim();
	if (text === '') return undefined;
	try {
		return exactJson(text);
	} catch (error) {
		const why = error instanceof Error ? error.message : 'not JSON';
		return refuse({ subject: `"${displayName}"`, demand: `must be JSON (${why})`, value: raw });
	}
}

type Entry = NonNullable<INodeProperties['options']>[number];

function readGroup(refuse: Refuse, entries: Entry[], raw: unknown): FieldValues {
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

function readValue(refuse: Refuse, field: INodeProperties, raw: unknown): unknown {
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
		case 'multiOptions': {
			const list = checked(optionList, raw, { parameter: field.displayName });
			return 'flaw' in list ? refuse(list.flaw) : list.value;
		}
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

/** A number that is no more than its field takes, which the editor asks of typed numbers alone. */
export function atMost<Value>(
	refuse: Refuse,
	{ displayName, typeOptions: { maxValue = Infinity } = {} }: INodeProperties,
	value: Value,
): Value {
	const isMore = typeof value === 'number' && value > maxValue;
	const flaw = { subject: `"${displayName}"`, demand: `must be at most ${maxValue}`, value };
	return isMore ? refuse(flaw) : value;
}

/** A group of fields; an expression may give it whole, also as JSON text. */
function readCollection(refuse: Refuse, field: INodeProperties, raw: unknown): unknown {
	const { displayName, options = [] } = field;
	const group = parsedJson(refuse, displayName, raw);
	if (group === undefined || isEqual(group, [])) return undefined;
	const place = isContainer(field) ? '' : ` in "${displayName}"`;
	const refuseHere: Refuse = (flaw) => refuse({ ...flaw, subject: flaw.subject + place });
	if (isJsonObject(group)) return filledGroup(refuseHere, options, group);
	return refuse({
		subject: `"${displayName}"`,
		demand: 'must be an object (JSON)',
		value: raw,
	});
}

/** A group all of whose fields are left empty, or whose expressions gave nothing, says nothing: servers would take it for an empty object. */
function filledGroup(refuse: Refuse, entries: Entry[], raw: unknown): FieldValues | undefined {
	const values = omitBy(readGroup(refuse, entries, raw), isEmptyText);
	return isEmpty(values) ? undefined : values;
}

/** A group without entries was not filled in; several groups of one field do not occur here. */
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

/** A value as its field takes it: text that says a number or a switch, and the other way round. */
export function typedValue(type: 'string' | 'number' | 'boolean', raw: unknown): unknown {
	if (typeof raw === type) return raw;
	return type === 'string' ? asText(isoText(raw)) : fromText(type, raw);
}

/** A number or a switch that an expression gave as text. */
export function fromText(type: 'number' | 'boolean', raw: unknown): unknown {
	if (typeof raw !== 'string' || raw.trim() === '') return raw;
	const parsed = validateFieldType('value', raw, type);
	return parsed.valid ? parsed.newValue : raw;
}

const optionList = z.array(z.string());

function asText(raw: unknown): unknown {
	return typeof raw === 'number' || typeof raw === 'boolean' ? String(raw) : raw;
}

/** The text that n8n makes of luxon's DateTime wherever one stands in a parameter. */
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d$/;

/** A Date or luxon's DateTime as servers take a date and time, which ends in `Z`; anything else stays. */
export function utcText(raw: unknown): unknown {
	const text = isoText(raw);
	const isMoment = typeof text === 'string' && (text !== raw || DATE_TIME.test(text));
	return isMoment ? new Date(text).toISOString() : raw;
}

/** A date as ISO 8601 text: an expression may give a Date or luxon's DateTime. Anything else stays. */
export function isoText(raw: unknown): unknown {
	if (raw instanceof Date) return Number.isNaN(raw.getTime()) ? raw : raw.toISOString();
	if (isJsonObject(raw) && typeof raw.toISO === 'function') return (raw.toISO() as unknown) ?? raw;
	return raw;
}

/** Gives a parameter as n8n has it, or what it is where the workflow does not set it. */
type ReadParameter = (name: string, initial: NodeParameterValueType) => unknown;

/**
 * Reads the parameters that say how the node works, such as Options, at one go.
 *
 * @param schema its keys are the names of the parameters; numbers without a limit are `finite`
 * @param fields the node's; what is not set, or given as nothing by an expression, is their default
 * @param refuse is told of the first value that does not meet the schema, by the names of its fields
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
	const values = assignWith(initialValues(own), given, withInitial);
	const result = checked(schema, values, { fields });
	return 'flaw' in result ? refuse(result.flaw) : result.value;
}

/** What fields are by default, those in a collection each; one for a record has chosen none. */
function initialValues(entries: NonNullable<INodeProperties['options']>): FieldValues {
	const fields = entries.filter((entry): entry is INodeProperties => 'type' in entry);
	const chosen = fields.filter(({ type }) => type !== 'resourceLocator');
	return Object.fromEntries(
		chosen.map(({ name, type, options = [], default: initial }) => [
			name,
			type === 'collection' ? initialValues(options) : initial,
		]),
	);
}

/** Of a collection, what is not given is what it is by default. */
function withInitial(initial: unknown, given: unknown): unknown {
	return isPlainObject(given) ? { ...(initial as object), ...(given as object) } : given;
}
