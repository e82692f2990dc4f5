import findLastIndex from 'lodash/findLastIndex';
import memoize from 'lodash/memoize';
import minBy from 'lodash/minBy';
import truncate from 'lodash/truncate';
import type { INodeProperties, INodePropertyCollection, INodePropertyOptions } from 'n8n-workflow';
import type { ZodIssue, ZodTypeAny, z } from 'zod';

import { LONE_SURROGATE_DEMAND, UUID_DEMAND, hasLoneSurrogate } from '../payloads/common';
import { isContainer } from './fields';

/** How messages name the parts of a value. */
export interface Naming {
	/** The fields that the value was read from; their display names stand for its keys. */
	fields?: INodeProperties[];
	/** Maps places of the value to field names, e.g. `assistant.id` to `assistantId`. */
	sources?: Record<string, string>;
	/** Display name of the parameter with the whole value; default `JSON Body`. */
	parameter?: string;
}

/** What is wrong with a value of the user. */
export interface Flaw {
	/** The parameter as the user sees it, e.g. `"Top K" in "Recall"`. */
	subject: string;
	/** The requirement, e.g. `must be a whole number`. */
	demand: string;
	/** The value, if it helps. */
	value?: unknown;
	/** How to correct it, if not by another value. */
	cure?: string;
}

/** The message for a value that cannot be sent. */
export function flawMessage({ subject, demand, value }: Flaw): string {
	const found = value === undefined ? '' : `, but is ${quoted(value)}`;
	return `${subject} ${demand}${found}`;
}

/** Checks a value against its schema. @returns the parsed value or its first flaw */
export function checked<Schema extends ZodTypeAny>(
	schema: Schema,
	value: unknown,
	naming: Naming,
): { value: z.output<Schema> } | { flaw: Flaw } {
	const result = schema.safeParse(value);
	if (result.success) return { value: result.data as z.output<Schema> };
	const { path, ...issue } = firstIssue(result.error.issues);
	return {
		flaw: {
			subject: subjectOf(path, naming),
			demand: demandOf({ path, ...issue } as ZodIssue),
			value: valueAt(value, path),
		},
	};
}

/** A union reports the issues of all branches; the branch with the fewest issues says most. */
function firstIssue(issues: ZodIssue[]): ZodIssue {
	const [issue] = issues;
	if (issue?.code === 'invalid_union')
		return firstIssue(minBy(issue.unionErrors, ({ issues: found }) => found.length)?.issues ?? []);
	return issue ?? { code: 'custom', path: [], message: 'is not valid' };
}

/**
 * Converts a value to JSON, or names the part that JSON cannot hold: too deep, not a finite number, or a lone
 * surrogate.
 */
export function jsonOf(value: unknown, naming: Naming): { text: string } | { flaw: Flaw } {
	const text = textOf(value);
	if (text === undefined) {
		const subject = subjectOf(placeWithoutText(value), naming);
		return { flaw: { subject, demand: 'is nested too deeply or too long to be sent' } };
	}
	// JSON escapes a lone surrogate, so only such texts are searched.
	const broken = text.includes('\\ud') ? findPlace(value, isBrokenText) : undefined;
	if (broken) return { flaw: surrogateFlaw(broken, naming) };
	// JSON turns Infinity and NaN into null, which clears fields on the server.
	const place = text.includes('null') ? findPlace(value, isNonFinite) : undefined;
	if (!place) return { text };
	const flaw = { demand: 'must be a number', value: valueAt(value, place) };
	return { flaw: { subject: subjectOf(place, naming), ...flaw } };
}

/** Messages must not contain a name with a lone surrogate either. */
function surrogateFlaw(place: Place, naming: Naming): Flaw {
	const whole = place.filter((key) => typeof key === 'number' || !hasLoneSurrogate(key));
	const inName = whole.length < place.length ? 'has a field whose name ' : '';
	return { subject: subjectOf(whole, naming), demand: `${inName}${LONE_SURROGATE_DEMAND}` };
}

function isBrokenText(part: unknown, key: unknown): boolean {
	return [part, key].some((text) => typeof text === 'string' && hasLoneSurrogate(text));
}

function placeWithoutText(value: unknown): string[] {
	const path: string[] = [];
	for (let inner = value; path.length < NAMED_LEVELS; ) {
		const bad = Object.entries(inner as object).find(
			([, one]) => one !== undefined && textOf(one) === undefined,
		);
		if (!bad) break;
		path.push(bad[0]);
		inner = bad[1];
	}
	return path;
}

function isNonFinite(part: unknown): boolean {
	return typeof part === 'number' && !Number.isFinite(part);
}

/** How deep the place of such a value is named. */
const NAMED_LEVELS = 4;

/** The JSON text of a value; undefined if it is too deep or too long. */
function textOf(value: unknown): string | undefined {
	try {
		return JSON.stringify(value) as string | undefined;
	} catch {
		return undefined;
	}
}

function demandOf(issue: ZodIssue): string {
	switch (issue.code) {
		case 'invalid_type':
			if (issue.received === 'undefined') return 'is missing';
			// For an enum, Zod lists the values as a type: 'confirm' | 'reject'.
			return issue.expected.startsWith("'")
				? `must be one of ${issue.expected.replaceAll("'", '').replaceAll(' | ', ', ')}`
				: `must be ${TYPE_NAMES[issue.expected] ?? issue.expected}`;
		case 'invalid_enum_value':
			return `must be one of ${issue.options.join(', ')}`;
		case 'invalid_literal':
			return `must be ${quoted(issue.expected)}`;
		case 'invalid_string':
			return STRING_DEMANDS[String(issue.validation)] ?? 'has the wrong form';
		case 'not_finite':
			return 'must be a number';
		case 'too_small':
			return issue.type === 'string' || issue.type === 'array'
				? 'must not be empty'
				: `must be ${issue.inclusive ? 'at least' : 'more than'} ${String(issue.minimum)}`;
		case 'too_big':
			return `must be ${issue.inclusive ? 'at most' : 'less than'} ${String(issue.maximum)}`;
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

const STRING_DEMANDS: Record<string, string> = {
	uuid: UUID_DEMAND,
	datetime: 'must be an ISO 8601 date-time such as 2026-01-31T08:00:00Z',
};

/** A path in code notation. */
function placeName(path: Place): string {
	const parts = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`));
	return parts.join('').replace(/^\./, '');
}

/** Names a part of a value by the display names of its fields, or by its path in the JSON. */
export function subjectOf(path: Place, { fields, sources = {}, parameter }: Naming): string {
	if (!fields) {
		const place = placeName(path);
		return `"${parameter ?? 'JSON Body'}"${place && ` at ${place}`}`;
	}
	const ends = path.map((_, end) => path.slice(0, end + 1).join('.'));
	const own = findLastIndex(ends, (key) => Object.hasOwn(sources, key));
	const source = sources[ends[own] ?? ''];
	const known = source === undefined ? path : [...source.split('.'), ...path.slice(own + 1)];
	const names = displayNames(known, fields);
	if (names.length === 0) return `"${parameter ?? 'Fields'}"`;
	return names
		.reverse()
		.map((name) => `"${name}"`)
		.join(' in ');
}

type Level = Array<INodeProperties | INodePropertyOptions | INodePropertyCollection>;

/** The display names along a path; a key without a field stays as it is. */
function displayNames(path: Place, fields: Level): string[] {
	const [key, ...rest] = path;
	if (key === undefined) return [];
	if (typeof key === 'number') return displayNames(rest, fields);
	const found = fieldNamed(key, fields);
	return found ? [found.displayName, ...displayNames(rest, levelBelow(found))] : [placeName(path)];
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

function fieldIn(fields: INodeProperties[], name: string): INodeProperties | undefined {
	const [outer = '', inner] = name.split('.');
	const found = fieldNamed(outer, fields);
	return inner === undefined || !found ? found : fieldNamed(inner, found.options ?? []);
}

/** Looks up a field of an operation by name. Memoized, so that many items search once. */
export const fieldsOf = memoize((fields: INodeProperties[]) =>
	memoize((name: string) => fieldIn(fields, name)),
);
fieldsOf.cache = new WeakMap();

function levelBelow(field: INodeProperties): Level {
	return (field.options ?? []).flatMap((entry) => ('values' in entry ? entry.values : [entry]));
}

function valueAt(value: unknown, path: Place): unknown {
	return path.reduce<unknown>(
		(inner, key) =>
			typeof inner === 'object' && inner !== null
				? (inner as Record<string, unknown>)[key]
				: undefined,
		value,
	);
}

/** A value as text for a message. */
export function quoted(value: unknown): string {
	if (typeof value === 'object') {
		return truncate(textOf(value) ?? 'a value that is nested too deeply', { length: 80 });
	}
	return truncate(typeof value === 'string' ? `"${value}"` : String(value), { length: 80 });
}

/** The path to a part of a value, outermost key first. */
export type Place = Array<string | number>;

interface Visit {
	value: unknown;
	key?: string | number;
	parent?: Visit;
}

/**
 * Finds the path to the first matching part, in the order of the JSON text. Dates and the like are matched in their
 * JSON form. Works without recursion, as values may be deep.
 */
export function findPlace(
	value: unknown,
	isMatch: (part: unknown, key?: string | number) => boolean,
): Place | undefined {
	const open: Visit[] = [{ value }];
	for (let visit = open.pop(); visit; visit = open.pop()) {
		const part = asJsonValue(visit.value);
		if (isMatch(part, visit.key)) return placeTo(visit);
		if (typeof part !== 'object' || part === null) continue;
		const entries = Array.isArray(part)
			? part.map((inner, index): [number, unknown] => [index, inner])
			: Object.entries(part);
		for (const [key, inner] of entries.reverse()) open.push({ value: inner, key, parent: visit });
	}
	return undefined;
}

function asJsonValue(value: unknown): unknown {
	const isObject = typeof value === 'object' && value !== null;
	return isObject && 'toJSON' in value && typeof value.toJSON === 'function'
		? (value.toJSON() as unknown)
		: value;
}

function placeTo(visit: Visit): Place {
	const place: Place = [];
	for (let at: Visit | undefined = visit; at; at = at.parent) {
		if (at.key !== undefined) place.unshift(at.key);
	}
	return place;
}
