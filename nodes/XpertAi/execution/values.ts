import compact from 'lodash/compact';
import isEmpty from 'lodash/isEmpty';
import isEqual from 'lodash/isEqual';
import memoize from 'lodash/memoize';
import { validateFieldType, type INodeProperties, type NodeParameterValueType } from 'n8n-workflow';
import { z, type AnyZodObject, type ZodTypeAny } from 'zod';

import { exactJson } from '../payloads/common';
import { isJsonObject } from '../transport/answer';
import { checked, fieldNamed, type Refuse } from './inputIssues';
import { filledOnly, isContainer, type FieldValues } from './fields';
import { chosenId } from './ids';

type FieldEntry = NonNullable<INodeProperties['options']>[number];

const isField = (entry: FieldEntry): entry is INodeProperties => 'type' in entry;

/** JSON as text, which is parsed; an expression may give a parsed value. */
export const jsonValue = z.unknown().transform((raw, { addIssue }): unknown => {
	if (typeof raw !== 'string') return raw ?? undefined;
	// `trim` also removes a byte order mark.
	const text = raw.trim();
	if (text === '') return undefined;
	try {
		return exactJson(text);
	} catch (error) {
		const why = error instanceof Error ? error.message : 'not JSON';
		addIssue({ code: 'custom', message: `must be JSON (${why})` });
		return z.NEVER;
	}
});

/**
 * The schema of what n8n gives for a field: it converts values that an expression gives as another type. Memoized, so
 * that many items share it.
 */
export const fieldSchema = memoize(
	(field: INodeProperties): ZodTypeAny =>
		z.preprocess((raw) => raw ?? undefined, filledSchema(field).optional()),
);
fieldSchema.cache = new WeakMap();

/** The schema of a setting: of its field, and then its own. Memoized, as it is read for each item. */
export const settingSchema = memoize((field: INodeProperties) => {
	const ofField = memoize((schema: ZodTypeAny) => fieldSchema(field).pipe(schema));
	ofField.cache = new WeakMap();
	return ofField;
});
settingSchema.cache = new WeakMap();

function filledSchema({ type, typeOptions = {}, options = [], ...field }: INodeProperties) {
	const { maxValue = Infinity, multipleValues } = typeOptions;
	const converted = (convert: (raw: unknown) => unknown) => z.unknown().transform(convert);
	switch (type) {
		case 'json':
			return jsonValue;
		case 'number':
			// The editor checks the maximum only of typed numbers.
			return converted((raw) => typedValue('number', raw)).refine(
				(value) => typeof value !== 'number' || value <= maxValue || Number.isNaN(value),
				`must be at most ${maxValue}`,
			);
		case 'boolean':
			return converted((raw) => typedValue('boolean', raw));
		case 'string':
			return multipleValues ? z.unknown() : converted((raw) => typedValue('string', raw));
		case 'dateTime':
			return converted((raw) => (raw === '' ? undefined : isoText(raw)));
		case 'multiOptions':
			return z.array(z.string());
		case 'resourceLocator':
			return converted((raw) => chosenId(raw) ?? undefined);
		case 'collection':
			// An expression may give the whole of it, also as JSON text.
			return jsonValue
				.transform((group) => (isEqual(group, []) ? undefined : group))
				.pipe(groupSchema(options).transform(filledGroup).optional());
		case 'fixedCollection':
			return rowsSchema({ ...field, type, options }, multipleValues === true);
		default:
			return z.unknown();
	}
}

/** The rows of a fixed collection, of which each field has one kind; or its only row. */
function rowsSchema({ options = [] }: INodeProperties, isList: boolean) {
	const [{ name, values }] = options.filter((entry) => 'values' in entry) as [Rows];
	const row = z.preprocess(objectOnly, groupSchema(values));
	const rows = z.array(row).transform((all) => {
		const filled = compact(all.map(filledGroup));
		return filled.length > 0 ? filled : undefined;
	});
	const content = z.object({ [name]: (isList ? rows : row).optional() });
	return z.preprocess(objectOnly, content).transform((raw): unknown => raw[name]);
}

type Rows = Extract<FieldEntry, { values: unknown }>;

const objectOnly = (raw: unknown) => (isJsonObject(raw) ? raw : {});

/** The schema of fields by name. Fields of collections that only group are put beside the others. */
function groupSchema(entries: FieldEntry[]) {
	const fields = entries.filter(isField);
	const isGroup = new Set(fields.filter(isContainer).map(({ name }) => name));
	const shape = Object.fromEntries(fields.map((field) => [field.name, fieldSchema(field)]));
	return z.object(shape).transform((given): FieldValues => {
		const values = Object.entries(given).flatMap(([name, value]) =>
			isGroup.has(name) ? Object.entries((value ?? {}) as object) : [[name, value] as const],
		);
		return Object.fromEntries(values.filter(([, value]) => value !== undefined));
	});
}

/** Undefined if all fields of a group are empty, as servers would take an empty object for a value. */
function filledGroup(group: FieldValues): FieldValues | undefined {
	const values = filledOnly(group);
	return isEmpty(values) ? undefined : values;
}

/**
 * Converts the raw values of editor fields to plain values, by name (see `fieldSchema`). Empty fields are dropped.
 *
 * @param raw the raw values from n8n, by field name
 */
export function fieldValues(
	refuse: Refuse,
	fields: INodeProperties[],
	raw: Record<string, unknown>,
): FieldValues {
	return filledOnly(checked(refuse, groupSchema(fields), raw, { fields }));
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
	const values = entries.filter(isField).map(({ name, type, options = [], default: initial }) => {
		const value = given[name];
		if (type === 'collection') return [name, withDefaults(options, (value ?? {}) as FieldValues)];
		return [name, value ?? (type === 'resourceLocator' ? undefined : initial)];
	});
	return Object.fromEntries(values) as FieldValues;
}
