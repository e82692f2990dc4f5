import { findLastIndex, get, truncate } from 'lodash';
import type { INodeProperties } from 'n8n-workflow';
import type { ZodIssue } from 'zod';

import { isPanelGroup } from './fieldBuilders';
import { type JsonPath, setsPath, stringified } from './jsonParts';

/** Tells error messages how to name the parts of a value. */
export interface FieldNaming {
	/** The fields of the node that form the value. If set, messages show display names instead of JSON keys. */
	fields?: INodeProperties[];
	/** The path to the value within `fields`, e.g. `['options', 'timeout']`. */
	within?: JsonPath;
	/** Maps paths in the value to field names, e.g. `assistant.id` to `assistantId`. */
	fieldByPath?: Record<string, string>;
	/** The content of Additional Fields (JSON). Messages name parts of this content by JSON path. */
	additionalJson?: object;
	/** The display name of the whole value. */
	parameterLabel?: string;
}

/** Returns why zod rejects a value, as the end of a sentence, e.g. `must be a number`. */
export function issueText(issue: ZodIssue): string {
	switch (issue.code) {
		case 'invalid_type':
			if (issue.received === 'undefined') return 'is missing';
			// For an enum, `expected` lists the values, e.g. `'confirm' | 'reject'`.
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

/** Returns the name of a part of a value for messages, e.g. `"Top K" in "Recall"`. */
export function fieldLabel(path: JsonPath, fieldNaming: FieldNaming): string {
	const { fields, within = [], additionalJson } = fieldNaming;
	const { parameterLabel = fields ? 'Fields' : 'JSON Body' } = fieldNaming;
	if (path.length > 0 && setsPath(additionalJson, path))
		return `"Additional Fields (JSON)" at ${pathText(path)}`;
	if (!fields) return `"${parameterLabel}"${path.length > 0 ? ` at ${pathText(path)}` : ''}`;
	const fieldPath = [...within, ...withFieldNames(path, fieldNaming.fieldByPath)];
	const names = fieldsAlong(fieldPath, fields).map(({ displayName }) => `"${displayName}"`);
	return names.reverse().join(' in ') || `"${parameterLabel}"`;
}

/** Replaces the start of a path by its field in `fieldByPath`. Of several such starts, the longest counts. */
function withFieldNames(path: JsonPath, fieldByPath: Record<string, string> = {}): JsonPath {
	const starts = path.map((_, at) => path.slice(0, at + 1).join('.'));
	const longest = findLastIndex(starts, (start) => Object.hasOwn(fieldByPath, start));
	const field = fieldByPath[starts[longest] ?? ''];
	return field === undefined ? path : [...field.split('.'), ...path.slice(longest + 1)];
}

/** Formats a path as in code, e.g. `rows[0].name`. */
function pathText(path: JsonPath): string {
	const parts = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`));
	return parts.join('').replace(/^\./, '');
}

/**
 * Returns the fields along a path, outermost first. If a key has no field, ends with the rest of the path as a name.
 *
 * @param level the fields in which to look for the first key
 */
export function fieldsAlong(
	path: JsonPath,
	level: INodeProperties[],
): Array<INodeProperties | { displayName: string }> {
	const [key, ...rest] = path;
	if (key === undefined) return [];
	const hasKey = (one: object): one is INodeProperties => 'type' in one && get(one, 'name') === key;
	const inPanelGroups = () => level.filter(isPanelGroup).flatMap(({ options = [] }) => options);
	const found = level.find(hasKey) ?? inPanelGroups().find(hasKey);
	// Skips indexes and the key `values` of rows, because the n8n panel does not show them. Without fields on this
	// level, the path is inside the value of a field, where `values` is an ordinary key.
	if (typeof key === 'number' || (!found && key === 'values' && level.length > 0))
		return fieldsAlong(rest, level);
	if (!found) return [{ displayName: pathText(path) }];
	const inside = (found.options ?? []).flatMap((one) => ('values' in one ? one.values : one));
	// JSON without fields: ends with the rest of the path and keeps indexes, which say which entry of a list is meant.
	if (found.type === 'json' && inside.length === 0 && rest.length > 0)
		return [found, { displayName: pathText(rest) }];
	const below = fieldsAlong(rest, inside as INodeProperties[]);
	// A message names the field inside a panel group, without the group.
	return isPanelGroup(found) && below.length > 0 ? below : [found, ...below];
}

/** Formats a value for a message, in at most 80 characters. */
export function shownValue(value: unknown): string {
	// The JSON text of an invalid date is `null`.
	const json = value === null ? 'null' : stringified(value)?.replace(/^null$/, 'an invalid date');
	const text = typeof value === 'object' ? json : String(value);
	const shown = typeof value === 'string' ? `"${value.toWellFormed()}"` : text;
	return truncate(shown ?? 'a value that has no JSON', { length: 80 });
}
