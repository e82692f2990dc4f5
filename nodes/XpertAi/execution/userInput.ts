import {
	attempt,
	defaults,
	findLastIndex,
	get,
	identity,
	isEmpty,
	isError,
	isNil,
	isPlainObject,
	mapValues,
	memoize,
	pick,
	truncate,
} from 'lodash';
import { isExpression, validateFieldType } from 'n8n-workflow';
import type {
	INode,
	INodeProperties,
	INodePropertyCollection,
	NodeOperationError,
	NodeParameterValueType,
	NodePropertyTypes,
} from 'n8n-workflow';
import { z, type AnyZodObject, type ZodIssue, type ZodTypeAny } from 'zod';

import {
	EVERY_UUID,
	LONE_SURROGATE_RULE,
	canonicalKey,
	hasLoneSurrogate,
	isUuid,
	isoText,
	jsonValue,
	keyRule,
	missingValueIn,
} from '../payloads/common';
import { isJsonObject } from '../transport/answer';
import { type FieldValues, filledOnly, isContainer, isIdField, splitList } from './fields';
import { operationError } from './apiError';

/** A schema that checks values of unknown type. */
export type Schema<Value> = z.ZodType<Value, z.ZodTypeDef, unknown>;

/** The path to a part of a value, outermost key first. */
type JsonPath = Array<string | number>;

/** How messages name the parts of a value. */
export interface Naming {
	/** The fields that the value was read from. Messages show the display names of fields in place of keys. */
	fields?: INodeProperties[];
	/** The path of the value within `fields`, e.g. that of an option. Default: the value has the fields as its keys. */
	within?: JsonPath;
	/** Maps paths in the value to names of fields, e.g. `assistant.id` to `assistantId`. */
	fieldByPath?: Record<string, string>;
	/**
	 * The value of Additional Fields (JSON). Messages name a part that it sets by the path of the part in this JSON.
	 */
	additional?: object;
	/** The display name for the value as a whole. Default: `Fields` if there are `fields`, otherwise `JSON Body`. */
	parameter?: string;
}

/** Why a value that the user gave is not accepted. */
interface InputIssue {
	/** The parameter as the user sees it, e.g. `"Top K" in "Recall"`. */
	field: string;
	/** The requirement that is not met, e.g. `must be a whole number`. */
	rule: string;
	/** The value, if the message is to show it. */
	value?: unknown;
	/** How to correct the input. Default: a general text. */
	fix?: string;
}

/**
 * Reads and checks the parameters of a node, for an item or for a poll. Methods that read a parameter throw a
 * NodeOperationError if its value is not accepted. The error names the parameter, the item and the requirement.
 */
export class Reader {
	/**
	 * @param fields the parameters, with their display names and defaults
	 * @param resolve reads a parameter from n8n; returns `initial` if the workflow does not set the parameter
	 * @param unsent what was not done because of an issue, e.g. `Nothing was sent for this item.`
	 * @param index the index of the item; undefined for a poll
	 * @param suffix appended to messages about rejected values, to name the item; default: empty
	 */
	constructor(
		readonly node: INode,
		protected readonly fields: INodeProperties[],
		readonly resolve: (name: string, initial: NodeParameterValueType) => unknown,
		private readonly unsent: string,
		readonly index?: number,
		readonly suffix = '',
	) {}

	/** A reader of other fields, for the same item. */
	with(fields: INodeProperties[], resolve: Reader['resolve']): Reader {
		return new Reader(this.node, fields, resolve, this.unsent, this.index, this.suffix);
	}

	operationError(message: string, description?: string): NodeOperationError {
		return operationError(this.node, message, { description, itemIndex: this.index });
	}

	/** Throws the error for a value that is not accepted. */
	refuse({ field, rule, value, fix = GENERAL_FIX }: InputIssue): never {
		const found = value === undefined ? '' : `, but is ${quoted(value)}`;
		throw this.operationError(`${field} ${rule}${found}${this.suffix}`, `${this.unsent} ${fix}`);
	}

	/** Throws the error for a parameter whose value is not accepted. */
	refuseField(name: string, rule: string, value?: unknown, fix?: string): never {
		return this.refuse({ field: `"${this.labelOf(name)}"`, rule, value, fix });
	}

	/** Throws if a parameter is an expression. Callers have found it empty, so the expression gave nothing. */
	refuseIfExpression(name: string): void {
		const rule = 'is empty: its expression gave nothing for this item';
		if (isExpression(givenFor(this.node, name)))
			this.refuseField(name, rule, undefined, EMPTY_EXPRESSION_FIX);
	}

	/**
	 * Reads a parameter as n8n gives it; of a resource locator, only its value.
	 *
	 * @throws NodeOperationError if the parameter is Fixed but contains an expression, if it is nested too deeply, or
	 * if it is required and its expression gives nothing; the error of n8n if an expression fails
	 */
	parameter(name: string, initial: NodeParameterValueType = ''): unknown {
		const fixed = findPath(givenFor(this.node, name), isFixedExpression);
		if (fixed) {
			// The panel does not show the key `value`, which contains the columns of a resource mapper.
			const path = [...name.split('.'), ...fixed].filter((part) => part !== 'value');
			this.refuse({ field: fieldName(path, { fields: this.fields }), ...FIXED_EXPRESSION });
		}
		const resolved = attempt(() => this.resolve(name, initial));
		if (isError(resolved)) {
			if (!/call stack/i.test(resolved.message)) throw resolved;
			this.refuseField(name, 'is nested too deeply');
		}
		const value = locatorValue(resolved);
		if (isNothing(value) && this.fieldOf(name)?.required) this.refuseIfExpression(name);
		return value;
	}

	/**
	 * Reads a parameter, converts it to the type of its field, and checks it with a schema. Empty fields of a
	 * collection have their defaults.
	 *
	 * @param initial the value if the parameter is empty; default: the default of its field
	 */
	setting<Value>(name: string, schema: Schema<Value>, initial?: NodeParameterValueType): Value {
		const field = this.fieldOf(name);
		initial ??= field?.default;
		const raw = this.parameter(name, initial);
		const given = isNothing(raw) ? initial : raw;
		const naming =
			field?.type === 'json'
				? { parameter: field.displayName }
				: { fields: this.fields, within: name.split('.') };
		const value = field ? this.check(fieldSchema(field), given, naming) : given;
		if (field?.type !== 'collection') return this.check(schema, value, naming);
		const options = field.options as INodeProperties[];
		const initials = Object.fromEntries(options.map((one) => [one.name, one.default]));
		return this.check(schema, defaults({}, value, initials), naming);
	}

	/**
	 * Reads one parameter for each key of a schema, e.g. `options`. The schema must give each number `int`, `finite` or a
	 * maximum, unless its field has a maximum: otherwise Infinity is accepted.
	 */
	settings<Settings extends AnyZodObject>(schema: Settings): z.output<Settings> {
		return mapValues(schema.shape, (own: ZodTypeAny, name): unknown => this.setting(name, own));
	}

	/** Reads the values of these fields, by name. Empty fields are left out. */
	values(fields: INodeProperties[]): FieldValues {
		const raw = fields.map(({ name }) => [name, this.parameter(name)] as const);
		return this.check(groupSchema(fields), Object.fromEntries(raw), { fields });
	}

	/**
	 * Reads a text. Numbers, booleans and dates from an expression are converted. An empty parameter gives `initial`
	 * and not the default of its field, because that default may be an expression.
	 */
	text(name: string, initial = ''): string {
		return this.setting(name, textValue, initial);
	}

	/** Reads a text that must not be empty; of a field for an ID, the ID in its value. */
	filledText(name: string): string {
		const text = this.text(name);
		return text.trim() === '' ? this.refuseField(name, 'must not be empty') : text;
	}

	/** Reads IDs from a text with commas or a list. There must be at least one. */
	ids(name: string): string[] {
		return this.setting(name, idsValue);
	}

	/** Checks a value with a schema. Returns the output of the schema, or throws an error about the first issue. */
	check<Value>(schema: Schema<Value>, value: unknown, naming: Naming = {}): Value {
		const result = schema.safeParse(value);
		if (result.success) return result.data;
		const [issue] = result.error.issues as [ZodIssue];
		const rule = ruleOf(issue);
		return this.refuse({
			field: fieldName(issue.path, naming),
			rule,
			value: valueAt(value, issue.path),
			fix: rule === ID_RULE ? ID_FIX : undefined,
		});
	}

	/** The JSON text of a value to send. Rejects values that JSON cannot represent, such as Infinity. */
	jsonText(value: unknown, naming: Naming = {}): string {
		const text = stringified(value);
		if (text === undefined)
			return this.refuse({ field: fieldName([], naming), rule: 'cannot be sent as JSON' });
		// `JSON.stringify` escapes a lone surrogate, and turns Infinity and NaN into null. The value is searched only
		// if its text contains such an escape or null.
		const path = /\\ud|null/.test(text) ? findPath(value, isUnsendable) : undefined;
		if (!path) return text;
		const part = valueAt(value, path);
		const isNumber = typeof part === 'number';
		const issue = isNumber ? { rule: 'must be a number', value: part } : BROKEN_TEXT;
		return this.refuse({ field: fieldName(path, naming), ...issue });
	}

	/**
	 * The display name of a parameter. The name of a nested parameter has dots, e.g. `options.timeout`. If there is no
	 * such nested field, the display name of the outer parameter is returned; without that, the name itself.
	 */
	labelOf(name: string): string {
		const [outer = ''] = name.split('.');
		return (this.fieldOf(name) ?? this.fieldOf(outer))?.displayName ?? name;
	}

	/** Whether the operation has a parameter of this name. */
	has(name: string): boolean {
		return this.fieldOf(name) !== undefined;
	}

	private fieldOf(name: string): INodeProperties | undefined {
		const found = fieldsAlong(name.split('.'), this.fields).at(-1);
		return found && 'type' in found ? found : undefined;
	}
}

const GENERAL_FIX = 'Correct the value, or the expression or column it comes from.';

const BROKEN_TEXT = { rule: LONE_SURROGATE_RULE };

const FIXED_EXPRESSION = {
	rule: 'is Fixed and holds an expression: switch it to Expression',
	fix: 'Fixed and Expression stand above the field.',
};

/** For the usual cause: after an approval or form node, `$json` no longer has the fields from before that node. */
const EMPTY_EXPRESSION_FIX =
	"Correct the expression. To read from a node further back, name that node: {{ $('Name of the Node').item.json.nameOfTheField }}";

/** Converts a value to the type of its field. A value that cannot be converted is returned unchanged. */
export function typedValue(type: 'string' | 'number' | 'boolean', raw: unknown): unknown {
	if (type === 'string') {
		const text = isoText(raw);
		return typeof text === 'number' || typeof text === 'boolean' ? String(text) : text;
	}
	if (typeof raw !== 'string' || raw.trim() === '') return raw;
	const parsed = validateFieldType('value', raw, type);
	return parsed.valid ? parsed.newValue : raw;
}

/**
 * A schema that converts a value; an empty value becomes undefined. It is one effect of zod, because each effect takes
 * longer than the rest of the reading, and there are several parameters for each of many items.
 *
 * @param flawOf returns the requirement that the converted or the raw value does not meet, if there is one
 */
const converted = (
	convert: (raw: unknown) => unknown = identity,
	flawOf: (value: unknown, raw: unknown) => string | false = () => false,
) =>
	z.unknown().transform((raw, { addIssue }) => {
		const value = isNothing(raw) ? undefined : convert(raw);
		const message = flawOf(value, raw);
		if (message) addIssue({ code: 'custom', message });
		return value;
	});

const textValue = z.string().default('');

const LOST_DIGITS = 'must be text, as so large a number has lost its last digits';

/** Whether a number is an integer so large that JavaScript may have rounded it. */
const hasLostDigits = (value: unknown) => Number.isInteger(value) && !Number.isSafeInteger(value);

/**
 * The schema of a text. Numbers, booleans and dates are converted; values of other types stay unchanged. Rejects
 * rounded integers and lone surrogates.
 */
const stringSchema = converted(
	(raw) => typedValue('string', raw),
	(_, raw) => (hasLostDigits(raw) && LOST_DIGITS) || (isBroken(raw) && BROKEN_TEXT.rule),
);

/** Splits a text with commas into a list. A list stays unchanged, and no value becomes an empty list. */
const asList = (raw: unknown) => (typeof raw === 'string' ? splitList(raw) : (raw ?? []));

const ID_RULE = 'must be an ID';
const ID_FIX = 'Paste the ID, or the address of its own page: a name is no ID.';

const idsValue = z.preprocess(
	asList,
	z
		.array(
			z
				.unknown()
				.transform(chosenId)
				.pipe(z.string().refine((id) => isId(id), ID_RULE)),
		)
		.min(1),
);

/** The schema of the names of binary fields. The list of names can be empty, a name cannot. */
export const namesValue = z.preprocess(asList, z.array(z.string().trim().min(1)));

/**
 * The schema of the value that n8n gives for a field. An expression may give another type, which is converted to that
 * of the field. An empty value becomes undefined. Memoized, so that many items share the schema.
 */
const fieldSchema = memoize((field: INodeProperties): ZodTypeAny => {
	const ofType = isIdField(field) ? idSchema : TYPE_SCHEMAS[field.type];
	return ofType?.(field, field.typeOptions) ?? converted();
});
fieldSchema.cache = new WeakMap();

const idSchema = ({ name }: INodeProperties) =>
	converted(
		(raw) => chosenId(raw) || undefined,
		(id) => typeof id === 'string' && !isId(id, name) && ID_RULE,
	);

const ifGiven = (schema: ZodTypeAny) => converted().pipe(schema.optional());

type TypeOptions = INodeProperties['typeOptions'];

/** Functions that make the schema of a field, by its type. For other types, any value is accepted. */
const TYPE_SCHEMAS: Partial<
	Record<NodePropertyTypes, (field: INodeProperties, options: TypeOptions) => ZodTypeAny>
> = {
	json: () => jsonValue,
	// The editor checks the maximum only of numbers that are typed in, not of expressions.
	number: (_, { maxValue = Infinity } = {}) =>
		converted(
			(raw) => typedValue('number', raw),
			(value) => typeof value === 'number' && value > maxValue && `must be at most ${maxValue}`,
		),
	boolean: () => converted((raw) => typedValue('boolean', raw)),
	string: (_, { multipleValues } = {}) => (multipleValues ? converted() : stringSchema),
	multiOptions: () => ifGiven(z.array(z.string())),
	// An expression may give the whole collection, as an object or as JSON text.
	collection: ({ options }) =>
		ifGiven(jsonValue.pipe(groupSchema(options as INodeProperties[]).transform(ifFilled))),
	fixedCollection: ({ options }, { multipleValues } = {}) => {
		const [{ name, values }] = options as [INodePropertyCollection];
		const row = groupSchema(values);
		const rows = z.array(row).transform((all) => ifFilled(all.filter((one) => !isEmpty(one))));
		const content = z.object({ [name]: (multipleValues ? rows : row).optional() });
		return ifGiven(content.transform((raw): unknown => raw[name]));
	},
};

/**
 * The schema of an object with the values of fields, by name. The fields inside a grouping collection move up, beside
 * the other fields. Empty values are dropped. Memoized.
 */
export const groupSchema = memoize((fields: INodeProperties[]) => {
	const shape = Object.fromEntries(fields.map((field) => [field.name, fieldSchema(field)]));
	return z.object(shape).transform((given) => {
		const parts = fields.map((field) =>
			isContainer(field) ? (given[field.name] as FieldValues) : pick(given, field.name),
		);
		return filledOnly(Object.assign({}, ...parts) as FieldValues);
	});
});
groupSchema.cache = new WeakMap();

/** Returns undefined for a group or rows without values, because servers would store the empty object or list. */
const ifFilled = (values: object) => (isEmpty(values) ? undefined : values);

function ruleOf(issue: ZodIssue): string {
	switch (issue.code) {
		case 'invalid_type':
			if (issue.received === 'undefined') return 'is missing';
			// For an enum, `expected` is a list of the values, such as: 'confirm' | 'reject'.
			return issue.expected.includes("'")
				? `must be one of ${issue.expected.replaceAll("'", '').replaceAll(' | ', ', ')}`
				: `must be ${TYPE_NAMES[issue.expected] ?? issue.expected}`;
		case 'invalid_enum_value':
			return `must be one of ${issue.options.join(', ')}`;
		case 'too_small':
			if (issue.type !== 'number') return 'must not be empty';
			return `must be ${issue.inclusive ? 'at least' : 'more than'} ${issue.minimum}`;
		case 'too_big':
			return `must be at most ${issue.maximum}`;
		default:
			return issue.message;
	}
}

const TYPE_NAMES: Record<string, string> = {
	integer: 'a whole number',
	number: 'a number',
	string: 'text',
	boolean: 'true or false',
	array: 'a list (JSON array)',
	object: 'an object (JSON)',
};

/**
 * Names a part of a value in a message: by the display names of its fields, innermost first, or by its path in the JSON
 * if there are no fields, or if Additional Fields (JSON) sets the part.
 */
export function fieldName(path: JsonPath, naming: Naming): string {
	const { fields, within = [], fieldByPath = {}, additional } = naming;
	const { parameter = fields ? 'Fields' : 'JSON Body' } = naming;
	if (path.length > 0 && isNamedIn(additional, path))
		return `"Additional Fields (JSON)" at ${pathText(path)}`;
	if (!fields) return `"${parameter}"${path.length > 0 ? ` at ${pathText(path)}` : ''}`;
	const ends = path.map((_, end) => path.slice(0, end + 1).join('.'));
	const own = findLastIndex(ends, (key) => Object.hasOwn(fieldByPath, key));
	const field = fieldByPath[ends[own] ?? ''];
	const known = field === undefined ? path : [...field.split('.'), ...path.slice(own + 1)];
	const names = fieldsAlong([...within, ...known], fields).map((one) => `"${one.displayName}"`);
	return names.reverse().join(' in ') || `"${parameter}"`;
}

/** A path in code notation, such as `rows[0].name`. */
function pathText(path: JsonPath): string {
	const parts = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`));
	return parts.join('').replace(/^\./, '');
}

/**
 * Whether a JSON value sets the part at a path. It does if it has a value at this path, and also if a key on the way
 * there has a value that is no object, because that value replaces the part.
 */
export function isNamedIn(value: unknown, [key, ...rest]: JsonPath): boolean {
	if (key === undefined || !isPlainObject(value)) return value !== undefined;
	return Object.hasOwn(value as object, key) && isNamedIn(get(value, [key]), rest);
}

/**
 * The fields along a path, outermost first. Where a key has no field, the rest of the path becomes one entry, with the
 * path as its display name.
 */
function fieldsAlong(
	path: JsonPath,
	level: INodeProperties[],
): Array<INodeProperties | { displayName: string }> {
	const [key, ...rest] = path;
	if (key === undefined) return [];
	const isFound = (one: object): one is INodeProperties =>
		'type' in one && get(one, 'name') === key;
	const inGroups = () => level.filter(isContainer).flatMap(({ options = [] }) => options);
	const found = level.find(isFound) ?? inGroups().find(isFound);
	// Left out, as in the panel: the index of a row, and the key `values`, which contains the rows.
	if (typeof key === 'number' || (!found && key === 'values' && level.length > 0))
		return fieldsAlong(rest, level);
	if (!found) return [{ displayName: pathText(path) }];
	const inside = (found.options ?? []).flatMap((one) => ('values' in one ? one.values : one));
	const below = fieldsAlong(rest, inside as INodeProperties[]);
	return isContainer(found) && below.length > 0 ? below : [found, ...below];
}

const valueAt = (value: unknown, path: JsonPath): unknown =>
	path.length > 0 ? get(value, path) : value;

/** A value as text for a message, of at most 80 characters. */
export function quoted(value: unknown): string {
	const text = typeof value === 'object' ? stringified(value) : String(value);
	const shown = typeof value === 'string' ? `"${value.toWellFormed()}"` : text;
	return truncate(shown ?? 'a value that has no JSON', { length: 80 });
}

/** The JSON text of a value; undefined if it has none, or if it is too deep or too long. */
function stringified(value: unknown): string | undefined {
	const text: unknown = attempt(() => JSON.stringify(value));
	return typeof text === 'string' ? text : undefined;
}

/**
 * Finds the path to the first matching part, in the order of the JSON text. A value with `toJSON`, such as a date, is
 * matched in its JSON form.
 *
 * @returns undefined if no part matches
 */
export function findPath(
	value: unknown,
	isMatch: (part: unknown) => boolean,
): JsonPath | undefined {
	const toJson: unknown = get(value, 'toJSON');
	const part: unknown = typeof toJson === 'function' ? toJson.call(value) : value;
	if (isMatch(part)) return [];
	if (typeof part !== 'object' || part === null) return undefined;
	for (const [name, inner] of Object.entries(part)) {
		const path = findPath(inner, isMatch);
		if (path) return [Array.isArray(part) ? Number(name) : name, ...path];
	}
	return undefined;
}

const isBroken = (text: unknown) => typeof text === 'string' && hasLoneSurrogate(text);

const isUnsendable = (part: unknown) =>
	(typeof part === 'number' && !Number.isFinite(part)) ||
	isBroken(part) ||
	(isPlainObject(part) && Object.keys(part as object).some(isBroken));

/**
 * The ID in a resource locator or a plain value: a trimmed text, a number as text, or the last UUID of a web address.
 * Returns any other value unchanged.
 */
export function chosenId(raw: unknown): unknown {
	const value = isJsonObject(raw) && 'value' in raw ? raw.value : raw;
	const id = typeof value === 'number' ? String(value) : value;
	return typeof id === 'string' ? idInAddress(id.trim()) : id;
}

/** The only parameter whose ID can be any text and not just a UUID, because clients can choose the IDs of threads. */
const CHOSEN_ID = 'threadId';

/**
 * Whether an ID can be sent: any UUID, and for a thread also other text. Of such text, these are rejected: a lone
 * surrogate, which a URL cannot contain; `.` and `..`, which would change the path; a text for a missing value, e.g.
 * `undefined`; and a web address.
 *
 * @param name the name of the parameter with the ID; without a name, only a UUID is accepted
 */
function isId(id: string, name?: string): boolean {
	if (isUuid(id) || name !== CHOSEN_ID) return isUuid(id);
	return !isBroken(id) && missingValueIn(id) === undefined && !/^\.\.?$/.test(id) && !isAddress(id);
}

/** The last UUID of a web address; any other text is returned unchanged. */
const idInAddress = (text: string): string =>
	(isAddress(text) ? text.match(EVERY_UUID)?.at(-1) : undefined) ?? text;

const isAddress = (text: string): boolean => /^https?:\/\//i.test(text);

/**
 * The value of a resource locator; any other parameter is returned unchanged. The display name in a locator is left
 * out, because it can be any text, even one that looks like an expression.
 */
const locatorValue = (parameter: unknown): unknown =>
	isJsonObject(parameter) && parameter.__rl === true ? parameter.value : parameter;

/** Whether a parameter, or the value of a resource locator, is empty: `''`, null or undefined. */
export function isNothing(parameter: unknown): boolean {
	const value = locatorValue(parameter);
	return value === '' || isNil(value);
}

/** The value of a parameter before n8n resolves it. Only this value shows whether the parameter is an expression. */
export const givenFor = ({ parameters }: INode, name: string): unknown =>
	locatorValue(get(parameters, name));

/** Whether the user filled in a parameter. An expression counts even if its result is empty; a lone `=` does not. */
export function isFilled(node: INode, name: string): boolean {
	const given = givenFor(node, name) ?? '';
	return typeof given !== 'string' || !['', '='].includes(given.trim());
}

/**
 * Reads a key that identifies records, in canonical form (see `canonicalKey`).
 *
 * @param isShared whether everyone with the same key uses the same record; if so, a key must have no part such as
 * `undefined`, and its expression must add something to its fixed text
 * @throws NodeOperationError if the value is not a key
 */
export function keyOf(item: Reader, name: string, isShared = false): string {
	const text = item.text(name).trim();
	const constant = isShared ? constantPart(givenFor(item.node, name)).trim() : '';
	if (text === constant) item.refuseIfExpression(name);
	return checkedKey(item, text, `"${item.labelOf(name)}"`, isShared);
}

/**
 * Reads an optional text, trimmed; undefined if the user did not fill it in.
 *
 * @throws NodeOperationError if the text is an expression whose result is empty
 */
export function textIfGiven(item: Reader, name: string): string | undefined {
	if (!isFilled(item.node, name)) return undefined;
	const text = item.text(name).trim();
	if (text === '') item.refuseIfExpression(name);
	return text;
}

/**
 * Reads an optional key, in canonical form; undefined if the user did not fill it in.
 *
 * @throws NodeOperationError if the value is not a key
 */
export const keyIfGiven = (item: Reader, name: string): string | undefined =>
	isFilled(item.node, name) ? keyOf(item, name) : undefined;

/**
 * Converts a value to a key in canonical form.
 *
 * @throws NodeOperationError if the value is not a key
 */
export function checkedKey(item: Reader, value: unknown, field: string, isShared = false): string {
	const key = canonicalKey(String(value));
	const rule = hasLostDigits(value) ? LOST_DIGITS : keyRule(key, isShared);
	return rule === undefined ? key : item.refuse({ field, rule });
}

/**
 * Matches a variable of n8n expressions. Other template languages, such as Jinja, Handlebars and Helm, have none of
 * these variables, so their templates may stand in a text.
 */
const VARIABLE =
	/\$(?:\(|(?:json|binary|input|node|items?|fromAI|now|today|workflow|execution|vars|env|secrets|(?:item|run)Index|prevNode|parameter)\b)/;

/** Matches an expression that is complete except for its braces, such as `$json.text`. */
const WITHOUT_BRACES =
	/^\$(?:(?:json|binary|input)[.[]|\((['"`])[^'"`]*\1\)\.(?:item|first|last|all)\b)\S*$/;

/** Whether a text contains an expression that n8n does not resolve, because the parameter is set to Fixed. */
const isFixedExpression = (part: unknown): boolean =>
	typeof part === 'string' &&
	!part.startsWith('=') &&
	(WITHOUT_BRACES.test(part.trim()) ||
		part.match(BRACED)?.some((code) => VARIABLE.test(code)) === true);

/** Matches double braces with their content. The content has no `{{`, so that matching takes linear time. */
const BRACED = /\{\{((?:(?!\{\{)[^])*?)\}\}/g;

/** The fixed text of an expression, without its parts in double braces; empty if there are no such parts. */
export function constantPart(expression: unknown): string {
	if (!isExpression(expression) || !expression.includes('{{')) return '';
	return expression.slice(1).replace(BRACED, '');
}
