import { attempt, compact, defaults, findKey, get, isError, mapValues, memoize } from 'lodash';
import {
	type INode,
	type INodeProperties,
	isExpression,
	type NodeOperationError,
	type NodeParameterValueType,
} from 'n8n-workflow';
import type { AnyZodObject, z, ZodIssue, ZodTypeAny } from 'zod';

import { LONE_SURROGATE_ISSUE } from '../payloads/loneSurrogates';
import type { Schema } from '../payloads/zodHelpers';
import { operationError } from './apiError';
import {
	fieldSchema,
	fieldValuesSchema,
	idListSchema,
	isIdIssue,
	LOST_DIGITS_ADVICE,
	LOST_DIGITS_ISSUE,
	textOrEmptySchema,
} from './fieldSchemas';
import { type FieldValues, valueIfAbsent } from './fieldBuilders';
import {
	EMPTY_EXPRESSION_ADVICE,
	emptyExpressionIssue,
	isBlank,
	isNothing,
	isParameterFilled,
	locatorValue,
	unresolvedValue,
} from './givenValues';
import { findPath, isTextWithLoneSurrogate, isUnsendable, stringified, valueAt } from './jsonParts';
import { isExpressionInFixed } from './expressionInFixed';
import { fieldLabel, type FieldNaming, fieldsAlong, issueText, shownValue } from './issueText';

/** Why the node rejects a value from the user. */
interface InputIssue {
	/** The parameter as the user sees it, e.g. `"Top K" in "Recall"`. */
	label: string;
	/** Why the value is rejected, e.g. `must be a whole number`. */
	issue: string;
	/** The rejected value, if the message should show it. */
	value?: unknown;
	/** How to correct the input. Default: `GENERAL_ADVICE`. */
	advice?: string;
}

/**
 * The cache of `ParameterReader.setting`, by node and parameter name. An entry contains `schema`, `initial` and the result.
 * Settings with expressions are not cached.
 */
const cachedSettingsOf = memoize<(node: INode) => Map<string, unknown[]>>(() => new Map());
cachedSettingsOf.cache = new WeakMap();

/**
 * Reads and checks node parameters, for one input item or for one poll of the trigger. Methods throw a
 * NodeOperationError if a value is invalid.
 */
export class ParameterReader {
	/**
	 * @param fields the parameters, with their display names and defaults
	 * @param resolveInN8n reads a parameter from n8n; returns `initial` if the parameter is not set
	 * @param unsent tells the user what the node did not do, e.g. `Nothing was sent for this item.`
	 * @param index the index of the input item; undefined for a poll
	 * @param suffix the end of error messages, e.g. ` [item 2]`
	 */
	constructor(
		readonly node: INode,
		protected readonly fields: INodeProperties[],
		private readonly resolveInN8n: (name: string, initial: NodeParameterValueType) => unknown,
		protected readonly unsent: string,
		readonly index?: number,
		readonly suffix = '',
	) {}

	/** Creates a reader of other fields, for the same item. */
	withFields(
		fields: INodeProperties[],
		resolveInN8n: ParameterReader['readWithoutChecks'],
	): ParameterReader {
		return new ParameterReader(
			this.node,
			fields,
			resolveInN8n,
			this.unsent,
			this.index,
			this.suffix,
		);
	}

	/**
	 * Reads a parameter from n8n, without checks. For a resource locator, returns only its value.
	 *
	 * @param initial the value if the parameter is not set
	 */
	readWithoutChecks(name: string, initial: NodeParameterValueType): unknown {
		return locatorValue(this.resolveInN8n(name, initial));
	}

	operationError(message: string, description?: string): NodeOperationError {
		return operationError(this.node, message, { description, itemIndex: this.index });
	}

	/** Throws an error about a rejected value. */
	throwIssue({ label, issue, value, advice = GENERAL_ADVICE }: InputIssue): never {
		const found = value === undefined ? '' : `, but is ${shownValue(value)}`;
		throw this.operationError(
			`${label} ${issue}${found}${this.suffix}`,
			`${this.unsent} ${advice}`,
		);
	}

	throwFieldIssue(name: string, issue: string, value?: unknown, advice?: string): never {
		return this.throwIssue({ label: `"${this.labelOf(name)}"`, issue, value, advice });
	}

	/** The advice about a missing value. Undefined here; `Item` overrides it for an input item without data. */
	get emptyItemAdvice(): string | undefined {
		return undefined;
	}

	/** A sentence with the names of the item's fields. Empty here; `Item` overrides it. */
	get fieldsInWords(): string {
		return '';
	}

	/**
	 * Throws an error about an empty parameter, but only if the parameter is an expression.
	 *
	 * @param result the result of the expression. The caller has checked that it is empty or blank.
	 */
	throwEmptyIfExpression(name: string, result: unknown): void {
		if (!isExpression(unresolvedValue(this.node, name))) return;
		const advice = isNothing(result)
			? (this.emptyItemAdvice ?? `${this.fieldsInWords}${EMPTY_EXPRESSION_ADVICE}`)
			: BLANK_ADVICE;
		this.throwFieldIssue(name, emptyExpressionIssue(result), undefined, advice);
	}

	/**
	 * Reads a parameter, but does not convert its type.
	 *
	 * @throws NodeOperationError if a Fixed parameter contains an expression
	 * @throws NodeOperationError if the expression of a required parameter has an empty result
	 * @throws NodeOperationError if the value is nested too deeply
	 * @throws the error of n8n if an expression fails
	 */
	parameter(name: string, initial: NodeParameterValueType = ''): unknown {
		this.throwIfExpressionInFixed(name);
		const value = attempt(() => this.readWithoutChecks(name, initial));
		if (isError(value)) {
			if (!/call stack/i.test(value.message)) throw value;
			this.throwFieldIssue(name, 'is nested too deeply');
		}
		if (isBlank(value) && this.fieldOf(name)?.required) this.throwEmptyIfExpression(name, value);
		return value;
	}

	/** Throws an error if a Fixed parameter contains an expression. n8n does not resolve it. */
	throwIfExpressionInFixed(name: string): void {
		const fixed = findPath(unresolvedValue(this.node, name), isExpressionInFixed);
		if (!fixed) return;
		// A resource mapper stores its columns under the key `value`. The n8n panel does not show this key.
		const path = [...name.split('.'), ...fixed].filter((part) => part !== 'value');
		this.throwIssue({
			label: fieldLabel(path, { fields: this.fields }),
			...EXPRESSION_IN_FIXED_MESSAGE,
		});
	}

	/**
	 * Reads a parameter, converts its value to the type of the field, and checks the value with a schema. Empty fields
	 * of a collection get their default values (see `valueIfAbsent`).
	 *
	 * @param initial the value to use if the parameter is empty. If omitted, the default of the field is used; for a
	 * switch in a collection, false.
	 */
	setting<Value>(name: string, schema: Schema<Value>, initial?: NodeParameterValueType): Value {
		const constants = cachedSettingsOf(this.node);
		const [cachedSchema, cachedInitial, cached] = constants.get(name) ?? [];
		if (cachedSchema === schema && cachedInitial === initial) return cached as Value;
		const field = this.fieldOf(name);
		const start = initial ?? (field && valueIfAbsent(field, name.includes('.')));
		const whole = this.convertAndCheck(name, this.parameter(name, start), schema, start);
		if (!findPath([this.node.parameters[name.replace(/\..*/, '')], start], isExpression))
			constants.set(name, [schema, initial, whole]);
		return whole;
	}

	/**
	 * Converts and checks a value that was read for a parameter. Empty fields of a collection get their default values
	 * (see `valueIfAbsent`).
	 *
	 * @param raw the value that was read
	 * @param start the value to use if `raw` is empty. Unlike in `setting`, the default of the field is not used.
	 */
	convertAndCheck<Value>(
		name: string,
		raw: unknown,
		schema: Schema<Value>,
		start?: NodeParameterValueType,
	): Value {
		const field = this.fieldOf(name);
		const given = isNothing(raw) ? start : raw;
		const fieldNaming: FieldNaming =
			field?.type === 'json'
				? { parameterLabel: field.displayName }
				: { fields: this.fields, within: name.split('.') };
		// The schema of the field converts the value. After that, `schema` checks it, with the default values.
		const value = field ? this.check(fieldSchema(field), given, fieldNaming) : given;
		const inside = (field?.type === 'collection' && field.options) as INodeProperties[] | false;
		const initials =
			inside && Object.fromEntries(inside.map((one) => [one.name, valueIfAbsent(one, true)]));
		return this.check(schema, initials ? defaults({}, value, initials) : value, fieldNaming);
	}

	/**
	 * Reads one parameter for each key of a schema. Each `z.number()` needs `int`, `finite` or a maximum, because
	 * `z.number()` alone accepts Infinity.
	 */
	settings<Settings extends AnyZodObject>(schema: Settings): z.output<Settings> {
		return mapValues(schema.shape, (own: ZodTypeAny, name): unknown => this.setting(name, own));
	}

	/** Reads several fields. Returns their values by field name, without empty values. */
	values(fields: INodeProperties[]): FieldValues {
		const raw = fields.map(({ name }) => [name, this.parameter(name)] as const);
		return this.check(fieldValuesSchema(fields), Object.fromEntries(raw), { fields });
	}

	/**
	 * Reads a parameter as text. Converts numbers, booleans and dates. An empty parameter gives `initial`. It does not
	 * give the default of the field, because this default may be an expression.
	 */
	text(name: string, initial = ''): string {
		return this.setting(name, textOrEmptySchema, initial);
	}

	/** Converts a value that was read for a parameter to text, as `text` does. */
	asText(name: string, raw: unknown): string {
		return this.convertAndCheck(name, raw, textOrEmptySchema, '');
	}

	/** Reads a parameter as text. Throws if the text is empty. */
	filledText(name: string): string {
		const text = this.text(name);
		return text.trim() === '' ? this.throwFieldIssue(name, 'must not be empty') : text;
	}

	/** Reads one or more IDs from a list or a comma-separated text. */
	ids(name: string): string[] {
		return this.setting(name, idListSchema);
	}

	/** Checks a value with a schema. Throws an error about the first issue. */
	check<Value>(schema: Schema<Value>, value: unknown, fieldNaming: FieldNaming = {}): Value {
		const result = schema.safeParse(value);
		if (result.success) return result.data;
		const [zodIssue] = result.error.issues as [ZodIssue];
		return this.throwIssue({
			label: fieldLabel(zodIssue.path, fieldNaming),
			issue: issueText(zodIssue),
			// For a list as text, `zodIssue.path` does not lead to the rejected part, but `params` has this part.
			value: get(zodIssue, 'params.value') ?? valueAt(value, zodIssue.path),
			advice: adviceForIssue(zodIssue, fieldNaming),
		});
	}

	/** Converts a value to JSON text. Throws if JSON cannot represent a part of the value, e.g. Infinity. */
	toJsonText(value: unknown, fieldNaming: FieldNaming = {}): string {
		const text = stringified(value);
		// `JSON.stringify` fails if the value is nested too deeply or its text is too long.
		if (text === undefined) {
			// The field that has no JSON text even on its own, if there is one.
			const key = findKey(Object(value), (part) => part !== undefined && !stringified(part));
			return this.throwIssue({
				label: fieldLabel(compact([key]), fieldNaming),
				issue: TOO_DEEP_ISSUE,
			});
		}
		// The search is slow. JSON shows a lone surrogate as `\ud…`, and Infinity and NaN as `null`.
		const path = /\\ud|null/.test(text) ? findPath(value, isUnsendable) : undefined;
		if (!path) return text;
		const part = valueAt(value, path);
		const label = fieldLabel(path, fieldNaming);
		if (typeof part === 'number')
			return this.throwIssue({ label, issue: 'must be a number', value: part });
		// If the part is an object, the lone surrogate is in one of its keys.
		const place = isTextWithLoneSurrogate(part) ? '' : 'has a field whose name ';
		return this.throwIssue({ label, issue: `${place}${LONE_SURROGATE_ISSUE}` });
	}

	/** Returns the display name of a parameter such as `options.timeout`. */
	labelOf(name: string): string {
		return (this.fieldOf(name) ?? this.fieldOf(name.replace(/\..*/, '')))?.displayName ?? name;
	}

	/** Whether the operation has a parameter of this name. */
	hasParameter(name: string): boolean {
		return this.fieldOf(name) !== undefined;
	}

	protected fieldOf(name: string): INodeProperties | undefined {
		return fieldFinder(this.fields)(name);
	}
}

/** Returns a function that finds a field by its path, such as `options.timeout`. */
const fieldFinder = memoize((fields: INodeProperties[]) =>
	memoize((name: string) => {
		const found = fieldsAlong(name.split('.'), fields).at(-1);
		return found && 'type' in found ? found : undefined;
	}),
);
fieldFinder.cache = new WeakMap();

const GENERAL_ADVICE = 'Correct the value, or the expression or column it comes from.';

/** Returns the advice for an invalid ID, lost digits or an empty field; undefined for all other issues. */
function adviceForIssue(issue: ZodIssue, { fields }: FieldNaming): string | undefined {
	// Only ID fields have custom issues about IDs. So the advice may name an address: these fields accept web addresses,
	// but IDs inside JSON cannot be web addresses.
	if (issue.code === 'custom' && isIdIssue(issueText(issue))) return ID_ADVICE;
	if (issue.code === 'custom' && issueText(issue) === LOST_DIGITS_ISSUE) return LOST_DIGITS_ADVICE;
	// Without `fields`, the missing part is inside JSON, and the panel has no field for it.
	const isEmptyField = fields && issue.code === 'invalid_type' && issue.received === 'undefined';
	return isEmptyField ? 'Fill in this field. Blanks alone do not count.' : undefined;
}

const BLANK_ADVICE = 'Leave such items out before, with a Filter node, or correct the expression.';

const TOO_DEEP_ISSUE = 'is nested too deeply or too long to be sent';

const EXPRESSION_IN_FIXED_MESSAGE = {
	issue: 'is Fixed and holds an expression: switch it to Expression',
	advice: 'Fixed and Expression stand above the field.',
};

const ID_ADVICE = 'Paste the ID, or the address of its own page: a name is no ID.';

/**
 * Reads and trims an optional text; undefined if the user left the field empty.
 *
 * @throws NodeOperationError if the result of an expression is empty
 */
export function textIfGiven(item: ParameterReader, name: string): string | undefined {
	if (!isParameterFilled(item.node, name)) return undefined;
	const text = item.text(name);
	if (text.trim() === '') item.throwEmptyIfExpression(name, text);
	return text.trim();
}
