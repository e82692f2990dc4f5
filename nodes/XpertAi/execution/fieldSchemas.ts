import { identity, isEmpty, isEqual, memoize } from 'lodash';
import {
	type INodeProperties,
	type INodePropertyCollection,
	type NodePropertyTypes,
	validateFieldType,
} from 'n8n-workflow';
import { z, type ZodTypeAny } from 'zod';

import { isJsonObject } from '../payloads/json';
import { jsonValueSchema } from './jsonValueSchema';
import { dateAsIsoText } from '../payloads/dates';
import { hasLostDigits } from '../payloads/identity';
import { missingValueOrObjectText } from '../payloads/missingValues';
import { EVERY_UUID_PATTERN, isUuid, UUID_ISSUE } from '../payloads/ids';
import { LONE_SURROGATE_ISSUE } from '../payloads/loneSurrogates';
import { ConvertingSchema } from './convertingSchema';
import { type FieldValues, filledOnly, isIdField, isPanelGroup, splitList } from './fieldBuilders';
import { isBlank, isNothing } from './givenValues';
import { isTextWithLoneSurrogate } from './jsonParts';

/** Converts a value to the type of its field. If the value cannot be converted, returns it unchanged. */
export function convertToType(type: 'string' | 'number' | 'boolean', raw: unknown): unknown {
	if (type === 'string') {
		const text = dateAsIsoText(raw);
		return typeof text === 'number' || typeof text === 'boolean' ? String(text) : text;
	}
	if (typeof raw !== 'string' || raw.trim() === '') return raw;
	const parsed = validateFieldType('value', raw, type);
	return parsed.valid ? parsed.newValue : raw;
}

/**
 * Returns a schema that converts and checks values. An empty value becomes undefined.
 *
 * @param issueOf returns why the value is invalid; false if the value is valid
 */
const newConvertingSchema = (
	convert: (raw: unknown) => unknown = identity,
	issueOf: (value: unknown, raw: unknown) => string | false = () => false,
) =>
	new ConvertingSchema(z.unknown(), (raw, reject) => {
		const value = isNothing(raw) ? undefined : convert(raw);
		const issue = issueOf(value, raw);
		if (issue) reject(issue);
		return value;
	});

export const textOrEmptySchema = z.string().default('');

export const LOST_DIGITS_ISSUE = 'must be text, as so large a number has lost its last digits';

export const LOST_DIGITS_ADVICE =
	'Have the node before give it as text: here its last digits are lost already, and toString() does not bring them back.';

/** Converts numbers, booleans and dates to text. Rejects rounded integers and lone surrogates. */
const convertedTextSchema = newConvertingSchema(
	(raw) => convertToType('string', raw),
	(_, raw) =>
		(hasLostDigits(raw) && LOST_DIGITS_ISSUE) ||
		(isTextWithLoneSurrogate(raw) && LONE_SURROGATE_ISSUE),
);

/** The schema of a required text. A blank text counts as missing. */
const filledStringSchema = z.preprocess(
	(raw) => (isBlank(raw) ? undefined : raw),
	convertedTextSchema,
);

/** Splits a comma-separated text into a list. A missing value gives an empty list. */
const splitIfText = (raw: unknown) => (typeof raw === 'string' ? splitList(raw) : (raw ?? []));

/** The issue of an invalid thread ID. The issue of all other IDs is `UUID_ISSUE`. */
const THREAD_ID_ISSUE = 'must be an ID';

export const isIdIssue = (issue: string) => issue === UUID_ISSUE || issue === THREAD_ID_ISSUE;

export const idListSchema = z.preprocess(
	splitIfText,
	z
		.array(
			z
				.unknown()
				.transform(idFromInput)
				.pipe(
					z.string().refine(
						(id) => isId(id),
						(id) => ({ message: UUID_ISSUE, params: { value: id } }),
					),
				),
		)
		.min(1),
);

/** The schema of a list of binary field names. Names must not be empty. */
export const binaryFieldNamesSchema = z.preprocess(splitIfText, z.array(z.string().trim().min(1)));

/** Returns the schema of a field. The schema converts values, because an expression may return any type. */
export const fieldSchema = memoize((field: INodeProperties): ZodTypeAny => {
	const ofType = isIdField(field) ? newIdSchema : SCHEMA_FACTORIES[field.type];
	return ofType?.(field, field.typeOptions) ?? newConvertingSchema();
});

const newIdSchema = ({ name }: INodeProperties) =>
	newConvertingSchema(
		(raw) => idFromInput(raw) || undefined,
		(id) =>
			typeof id === 'string' &&
			!isId(id, name) &&
			(name === THREAD_ID_FIELD ? THREAD_ID_ISSUE : UUID_ISSUE),
	);

const optionalSchema = (schema: ZodTypeAny) => newConvertingSchema().pipe(schema.optional());

type TypeOptions = INodeProperties['typeOptions'];

/** Creates the schema of a field, by field type. A field type that is missing here accepts any value. */
const SCHEMA_FACTORIES: Partial<
	Record<NodePropertyTypes, (field: INodeProperties, options: TypeOptions) => ZodTypeAny>
> = {
	json: () => jsonValueSchema,
	// n8n does not check `maxValue` for the result of an expression, so the schema does.
	number: (_, { maxValue = Infinity } = {}) =>
		newConvertingSchema(
			(raw) => convertToType('number', raw),
			(value) => typeof value === 'number' && value > maxValue && `must be at most ${maxValue}`,
		),
	boolean: () => newConvertingSchema((raw) => convertToType('boolean', raw)),
	string: ({ required }, { multipleValues } = {}) => {
		if (multipleValues) return newConvertingSchema();
		return required ? filledStringSchema : convertedTextSchema;
	},
	multiOptions: () => optionalSchema(z.array(z.string())),
	// An expression may return the whole collection, as an object or as JSON text.
	collection: ({ options }) => {
		const group = fieldValuesSchema(options as INodeProperties[]).transform(undefinedIfEmpty);
		return jsonValueSchema.pipe(newConvertingSchema(undefinedIfEmptyList)).pipe(group.optional());
	},
	fixedCollection: ({ options }, { multipleValues } = {}) => {
		const [{ name, values }] = options as [INodePropertyCollection];
		const row = fieldValuesSchema(values);
		const rows = z
			.array(row)
			.transform((all) => undefinedIfEmpty(all.filter((one) => !isEmpty(one))));
		const content = z.object({ [name]: (multipleValues ? rows : row).optional() });
		return optionalSchema(content.transform((raw): unknown => raw[name]));
	},
};

/**
 * Returns the schema of an object with the values of `fields`. Removes empty values. Takes the values out of panel groups
 * such as `additionalFields` (see `isPanelGroup`).
 */
export const fieldValuesSchema = memoize((fields: INodeProperties[]) => {
	const shape = Object.fromEntries(fields.map((field) => [field.name, fieldSchema(field)]));
	return new ConvertingSchema(z.object(shape), (given) => {
		const parts = fields.map((field) => {
			const value: unknown = given[field.name];
			return isPanelGroup(field) ? (value as FieldValues) : { [field.name]: value };
		});
		return filledOnly(Object.assign({}, ...parts) as FieldValues);
	});
});

fieldSchema.cache = new WeakMap();
fieldValuesSchema.cache = new WeakMap();

/** Replaces an empty list by undefined. Some expressions and generated workflows give `[]` for an empty collection. */
const undefinedIfEmptyList = (raw: unknown) => (isEqual(raw, []) ? undefined : raw);

/** Turns an empty object or list into undefined, because servers would store the empty value. */
const undefinedIfEmpty = (values: object) => (isEmpty(values) ? undefined : values);

/**
 * Returns the ID in the value of an ID field, which can be a resource locator. In a web address, the last UUID is the
 * ID. A UUID in capital letters is returned in small letters, because servers compare some IDs as text. A number becomes
 * text. Values of other types stay unchanged.
 */
export function idFromInput(raw: unknown): unknown {
	const value = isJsonObject(raw) && 'value' in raw ? raw.value : raw;
	const given = typeof value === 'number' ? String(value) : value;
	if (typeof given !== 'string') return given;
	const id = idFromAddress(given.trim());
	return isUuid(id) ? id.toLowerCase() : id;
}

/** The only ID parameter that takes other texts than UUIDs, because clients can choose thread IDs. */
const THREAD_ID_FIELD = 'threadId';

/**
 * Whether an ID is valid. A UUID is always valid. A thread ID may be any text, except:
 * - a text with a lone surrogate, which a URL cannot contain;
 * - `.` and `..`, which would change the path of the URL;
 * - a text for a missing value, e.g. `undefined`;
 * - a web address.
 *
 * @param name the name of the ID parameter
 */
function isId(id: string, name?: string): boolean {
	if (isUuid(id) || name !== THREAD_ID_FIELD) return isUuid(id);
	return (
		!isTextWithLoneSurrogate(id) &&
		missingValueOrObjectText(id) === undefined &&
		!/^\.\.?$/.test(id) &&
		!isAddress(id)
	);
}

/** Returns the last UUID of a web address. A text that is no web address stays unchanged. */
const idFromAddress = (text: string): string =>
	(isAddress(text) ? text.match(EVERY_UUID_PATTERN)?.at(-1) : undefined) ?? text;

const isAddress = (text: string): boolean => /^https?:\/\//i.test(text);
