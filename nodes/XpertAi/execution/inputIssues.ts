import compact from 'lodash/compact';
import findKey from 'lodash/findKey';
import findLastIndex from 'lodash/findLastIndex';
import get from 'lodash/get';
import isPlainObject from 'lodash/isPlainObject';
import memoize from 'lodash/memoize';
import truncate from 'lodash/truncate';
import type { INodeProperties, INodePropertyCollection, INodePropertyOptions } from 'n8n-workflow';
import type { ZodIssue, ZodTypeAny, z } from 'zod';

import { LONE_SURROGATE_RULE, hasLoneSurrogate } from '../payloads/common';
import { isContainer } from './fields';

/** How messages name the parts of a value. */
export interface Naming {
	/** The fields that the value was read from; their display names stand for its keys. */
	fields?: INodeProperties[];
	/** Maps paths in the value to field names, e.g. `assistant.id` to `assistantId`. */
	fieldByPath?: Record<string, string>;
	/** Additional Fields (JSON), whose parts are named by their path in it. */
	additional?: object;
	/** Display name of the parameter with the whole value; default `JSON Body`. */
	parameter?: string;
}

/** What is wrong with a value of the user. */
export interface InputIssue {
	/** The parameter as the user sees it, e.g. `"Top K" in "Recall"`. */
	field: string;
	/** The requirement, e.g. `must be a whole number`. */
	rule: string;
	/** The value, if it helps. */
	value?: unknown;
	/** How to correct it, if not by another value. */
	fix?: string;
}

/** The message for a value that cannot be sent. */
export function issueMessage({ field, rule, value }: InputIssue): string {
	const found = value === undefined ? '' : `, but is ${quoted(value)}`;
	return `${field} ${rule}${found}`;
}

/** Throws because of a value. */
export type Refuse = (flaw: InputIssue) => never;

/** Checks a value against its schema, and refuses its first flaw. @returns the parsed value */
export function checked<Schema extends ZodTypeAny>(
	refuse: Refuse,
	schema: Schema,
	value: unknown,
	naming: Naming,
): z.output<Schema> {
	const result = schema.safeParse(value);
	if (result.success) return result.data as z.output<Schema>;
	const [issue] = result.error.issues as [ZodIssue];
	const flaw = { field: fieldName(issue.path, naming), rule: ruleOf(issue) };
	return refuse({ ...flaw, value: valueAt(value, issue.path) });
}

/**
 * Converts a value to JSON, or refuses what JSON cannot hold: a value that is too deep, or the part that is not a finite
 * number or has a lone surrogate.
 */
export function jsonOf(refuse: Refuse, value: unknown, naming: Naming): string {
	const text = stringified(value);
	if (text === undefined) {
		const hasNoText = (part: unknown) => part !== undefined && stringified(part) === undefined;
		const path = compact([findKey(Object(value), hasNoText)]);
		const rule = 'is nested too deeply or too long to be sent';
		return refuse({ field: fieldName(path, naming), rule });
	}
	// JSON escapes a lone surrogate, and turns Infinity and NaN into null, which clears fields on the server.
	const path = /\\ud|null/.test(text) ? findPath(value, isUnsendable) : undefined;
	return path ? refuse(unsendableIssue(value, path, naming)) : text;
}

const isBroken = (text: unknown) => typeof text === 'string' && hasLoneSurrogate(text);

const hasBrokenKey = (part: unknown) =>
	isPlainObject(part) && Object.keys(part as object).some(isBroken);

const isUnsendable = (part: unknown) =>
	(typeof part === 'number' && !Number.isFinite(part)) || isBroken(part) || hasBrokenKey(part);

function unsendableIssue(value: unknown, path: JsonPath, naming: Naming): InputIssue {
	const field = fieldName(path, naming);
	const part = valueAt(value, path);
	if (typeof part === 'number') return { field, rule: 'must be a number', value: part };
	// Messages must not contain a lone surrogate either.
	const which = isBroken(part) ? '' : 'has a field whose name ';
	return { field, rule: which + LONE_SURROGATE_RULE };
}

/** The JSON text of a value; undefined if it is too deep or too long. */
function stringified(value: unknown): string | undefined {
	try {
		return JSON.stringify(value) as string | undefined;
	} catch {
		return undefined;
	}
}

function ruleOf(issue: ZodIssue): string {
	switch (issue.code) {
		case 'invalid_type':
			if (issue.received === 'undefined') return 'is missing';
			// For an enum, Zod lists the values as a type: 'confirm' | 'reject'.
			return issue.expected.startsWith("'")
				? `must be one of ${issue.expected.replaceAll("'", '').replaceAll(' | ', ', ')}`
				: `must be ${TYPE_NAMES[issue.expected] ?? issue.expected}`;
		case 'invalid_enum_value':
			return `must be one of ${issue.options.join(', ')}`;
		case 'too_small':
			return issue.type === 'string' || issue.type === 'array'
				? 'must not be empty'
				: `must be ${issue.inclusive ? 'at least' : 'more than'} ${String(issue.minimum)}`;
		case 'too_big':
			return `must be at most ${String(issue.maximum)}`;
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

/** A path in code notation. */
function pathText(path: JsonPath): string {
	const parts = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`));
	return parts.join('').replace(/^\./, '');
}

/** Names a part of a value by the display names of its fields, or by its path in the JSON. */
export function fieldName(path: JsonPath, naming: Naming): string {
	const { fields, fieldByPath = {}, parameter = 'JSON Body', additional } = naming;
	if (path.length > 0 && isNamedIn(additional, path))
		return atPath('Additional Fields (JSON)', path);
	if (!fields) return atPath(parameter, path);
	const ends = path.map((_, end) => path.slice(0, end + 1).join('.'));
	const own = findLastIndex(ends, (key) => Object.hasOwn(fieldByPath, key));
	const field = fieldByPath[ends[own] ?? ''];
	const known = field === undefined ? path : [...field.split('.'), ...path.slice(own + 1)];
	const names = displayNames(known, fields);
	if (names.length === 0) return `"${naming.parameter ?? 'Fields'}"`;
	return names
		.reverse()
		.map((name) => `"${name}"`)
		.join(' in ');
}

function atPath(parameter: string, path: JsonPath): string {
	const text = pathText(path);
	return `"${parameter}"${text && ` at ${text}`}`;
}

/** Whether a JSON value says what is at a path: it has the path, or something else than an object on the way. */
export function isNamedIn(value: unknown, [key, ...rest]: JsonPath): boolean {
	if (key === undefined || !isPlainObject(value)) return value !== undefined;
	return Object.hasOwn(value as object, key) && isNamedIn(get(value, [key]), rest);
}

type Level = Array<INodeProperties | INodePropertyOptions | INodePropertyCollection>;

/** The display names along a path; a key without a field stays as it is. */
function displayNames(path: JsonPath, fields: Level): string[] {
	const [key, ...rest] = path;
	if (key === undefined) return [];
	const found = fieldNamed(String(key), fields);
	// The user sees no names for the position of a row, and for the key under which n8n has the rows.
	if (typeof key === 'number' || (!found && key === 'values' && fields.length > 0))
		return displayNames(rest, fields);
	if (!found) return [pathText(path)];
	const { displayName, options = [] } = found;
	const below = displayNames(
		rest,
		options.flatMap((entry) => ('values' in entry ? entry.values : [entry])),
	);
	return isContainer(found) && below.length > 0 ? below : [displayName, ...below];
}

/** Finds a field by name, first at this level, then inside the collections that only group fields. */
export function fieldNamed(name: string, level: Level): INodeProperties | undefined {
	const fields = level.filter((entry): entry is INodeProperties => 'type' in entry);
	const inside = fields.filter(isContainer).flatMap(({ options = [] }) => options);
	return (
		fields.find((field) => field.name === name) ??
		(inside.length > 0 ? fieldNamed(name, inside) : undefined)
	);
}

/** Looks up a field of an operation by name. Memoized, so that many items search once. */
export const fieldLookup = memoize((fields: INodeProperties[]) =>
	memoize((name: string) => {
		const [outer = '', inner] = name.split('.');
		const found = fieldNamed(outer, fields);
		if (inner === undefined || found?.type === 'resourceMapper') return found;
		return fieldNamed(inner, found?.options ?? []);
	}),
);
fieldLookup.cache = new WeakMap();

function valueAt(value: unknown, path: JsonPath): unknown {
	return path.length > 0 ? get(value, path) : value;
}

/** A value as text for a message. */
export function quoted(value: unknown): string {
	if (typeof value === 'object') {
		return truncate(stringified(value) ?? 'a value that is nested too deeply', { length: 80 });
	}
	return truncate(typeof value === 'string' ? `"${value}"` : String(value), { length: 80 });
}

/** The path to a part of a value, outermost key first. */
export type JsonPath = Array<string | number>;

/**
 * Finds the path to the first matching part, in the order of the JSON text. Dates and the like are matched in their
 * JSON form.
 */
export function findPath(
	value: unknown,
	isMatch: (part: unknown) => boolean,
): JsonPath | undefined {
	const part = hasJsonForm(value) ? value.toJSON() : value;
	if (isMatch(part)) return [];
	if (typeof part !== 'object' || part === null) return undefined;
	for (const [name, inner] of Object.entries(part)) {
		const path = findPath(inner, isMatch);
		if (path) return [Array.isArray(part) ? Number(name) : name, ...path];
	}
	return undefined;
}

function hasJsonForm(value: unknown): value is { toJSON: () => unknown } {
	return typeof get(value, 'toJSON') === 'function';
}
