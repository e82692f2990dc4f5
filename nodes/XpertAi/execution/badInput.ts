import camelCase from 'lodash/camelCase';
import findLastIndex from 'lodash/findLastIndex';
import minBy from 'lodash/minBy';
import truncate from 'lodash/truncate';
import { NodeOperationError } from 'n8n-workflow';
import type {
	INode,
	INodeProperties,
	INodePropertyCollection,
	INodePropertyOptions,
} from 'n8n-workflow';
import type { ZodIssue, ZodTypeAny, z } from 'zod';

import { placeOf } from './places';
import type { Place } from './places';

/** Where a value came from: names it in messages as the user sees it. */
export interface InputSource {
	node: INode;
	itemIndex: number;
	/** The fields the body was made of; their display names stand for the body's keys. */
	fields?: INodeProperties[];
	/** Display names for paths that no field is named after. */
	labels?: Record<string, string>;
	/** Display name of the parameter that holds the whole value, e.g. `JSON Body`. */
	parameter?: string;
}

/**
 * The one wording for input that cannot be sent.
 *
 * @param subject the parameter as the user sees it, e.g. `"Top K" in "Recall"`
 * @param demand what it must be, e.g. `must be a whole number`
 */
export function badInput(
	{ node, itemIndex }: Pick<InputSource, 'node' | 'itemIndex'>,
	subject: string,
	demand: string,
	value?: unknown,
): NodeOperationError {
	const found = value === undefined ? '' : `, but is ${quoted(value)}`;
	const message = `${subject} ${demand}${found} [item ${itemIndex}]`;
	const error = new NodeOperationError(node, message, {
		itemIndex,
		description:
			'Nothing was sent for this item. Correct the value, or the expression or column it comes from.',
	});
	// n8n swaps messages that happen to hold a network code, such as a user's text.
	error.message = message;
	return error;
}

/**
 * Checks a value against its schema before anything is sent.
 *
 * @returns the value, typed by the schema
 * @throws NodeOperationError naming parameter, item, what the value is and what it must be
 */
export function checkInput<Schema extends ZodTypeAny>(
	schema: Schema,
	value: unknown,
	source: InputSource,
): z.output<Schema> {
	const result = schema.safeParse(value);
	if (result.success) return result.data as z.output<Schema>;
	const issue = firstIssue(result.error.issues);
	throw badInput(
		source,
		subjectOf(issue.path, source),
		demandOf(issue),
		valueAt(value, issue.path),
	);
}

/** A union reports its branches inside one issue; the branch that comes closest says most. */
function firstIssue(issues: ZodIssue[]): ZodIssue {
	const [issue] = issues;
	if (issue?.code === 'invalid_union')
		return firstIssue(minBy(issue.unionErrors, ({ issues: found }) => found.length)?.issues ?? []);
	return issue ?? { code: 'custom', path: [], message: 'is not valid' };
}

/**
 * The JSON text of a value that is sent.
 *
 * @throws NodeOperationError naming the parameter whose value has no JSON text, or a number JSON has not
 */
export function jsonText(value: unknown, source: InputSource): string {
	const text = textOf(value);
	if (text !== undefined) {
		// Infinity and NaN become null, which clears fields: only what holds one is walked through.
		if (text.includes('null')) refuseNoNumbers(value, source);
		return text;
	}
	const path: string[] = [];
	for (let inner = value; path.length < NAMED_LEVELS; ) {
		const bad = Object.entries(inner as object).find(
			([, one]) => one !== undefined && textOf(one) === undefined,
		);
		if (!bad) break;
		path.push(bad[0]);
		inner = bad[1];
	}
	throw badInput(source, subjectOf(path, source), 'is nested too deeply or too long to be sent');
}

function refuseNoNumbers(value: unknown, source: InputSource): void {
	const place = placeOf(value, isNoNumber);
	if (place)
		throw badInput(source, subjectOf(place, source), 'must be a number', valueAt(value, place));
}

function isNoNumber(part: unknown): boolean {
	return typeof part === 'number' && !Number.isFinite(part);
}

/** How far the place of a value without JSON text is named. */
const NAMED_LEVELS = 4;

/** JSON text of a value; none where it is too deep or too long for one. */
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
			return `must be ${TYPE_NAMES[issue.expected] ?? issue.expected}`;
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
	uuid: 'must be a UUID such as 123e4567-e89b-42d3-a456-426614174000',
	datetime: 'must be an ISO 8601 date-time such as 2026-01-31T08:00:00Z',
};

/** A place in JSON, as code writes it. */
function placeName(path: Place): string {
	const parts = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`));
	return parts.join('').replace(/^\./, '');
}

/** A part of a value as the user knows it: by the names of its fields, else by its place in the JSON. */
export function subjectOf(path: Place, { fields, labels, parameter }: InputSource): string {
	const labelOf = (parts: Place) => {
		const key = parts.join('.');
		return labels && Object.hasOwn(labels, key) ? labels[key] : undefined;
	};
	const label = labelOf(path);
	if (label) return `"${label}"`;
	if (!fields) {
		const place = placeName(path);
		return `"${parameter ?? 'JSON Body'}"${place && ` at ${place}`}`;
	}
	// What no field is named after belongs to the part around it that has a name.
	const own = findLastIndex(path, (_, end) => labelOf(path.slice(0, end + 1)) !== undefined);
	if (own > 0 || (own === 0 && !findField(String(path[0]), fields))) {
		const below = placeName(path.slice(own + 1));
		return `${below && `"${below}" in `}"${labelOf(path.slice(0, own + 1))}"`;
	}
	const names = displayNames(path, fields);
	if (names.length === 0) return `"${labelOf([]) ?? parameter ?? 'Fields'}"`;
	return names
		.reverse()
		.map((name) => `"${name}"`)
		.join(' in ');
}

type Level = Array<INodeProperties | INodePropertyOptions | INodePropertyCollection>;

/** Walks the editor's fields along the path of a body; `expires_after` finds `expiresAfter` as well. */
function displayNames(path: Place, fields: Level): string[] {
	const [key, ...rest] = path;
	if (key === undefined) return [];
	if (typeof key === 'number') return displayNames(rest, fields);
	const found = findField(key, fields);
	if (!found) return [path.filter((part) => typeof part === 'string').join('.')];
	const below = displayNames(rest, levelBelow(found));
	return [found.displayName, ...below];
}

function findField(key: string, level: Level): INodeProperties | undefined {
	for (const entry of level) {
		if (!('type' in entry)) continue;
		if (entry.name === key || entry.name === camelCase(key)) return entry;
		if (entry.type !== 'collection') continue;
		const inside = findField(key, entry.options ?? []);
		if (inside) return inside;
	}
	return undefined;
}

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

/** A value as it stands in a message. */
export function quoted(value: unknown): string {
	if (typeof value === 'object') {
		return truncate(textOf(value) ?? 'a value that is nested too deeply', { length: 80 });
	}
	return truncate(typeof value === 'string' ? `"${value}"` : String(value), { length: 80 });
}
