import { isPlainObject } from 'lodash';

import { freeForm, type Schema } from '../payloads/zodHelpers';
import { ADDITIONAL_JSON_PARAMETER } from './fieldBuilders';
import { fieldLabel, type FieldNaming } from './issueText';
import { setsPath } from './jsonParts';
import type { Item } from './item';
import type { OperationBody } from './operation';

/**
 * Merges Additional Fields (JSON) into the request body, and checks the complete body.
 *
 * @param value the body from the other parameters
 * @param panel how error messages name the parts of `value`
 * @param reserved paths that Additional Fields (JSON) must not contain
 * @returns the complete body, and how error messages name the parts of the body
 * @throws NodeOperationError if a field is invalid
 */
export function mergeAdditionalFields<Body>(
	item: Item,
	value: unknown,
	schema: Schema<Body>,
	panel: FieldNaming,
	reserved: string[] = [],
): { value: Body; fieldNaming: FieldNaming } {
	if (!item.hasParameter(ADDITIONAL_JSON_PARAMETER))
		return { value: item.check(schema, value, panel), fieldNaming: panel };
	const additionalJson = item.setting(ADDITIONAL_JSON_PARAMETER, freeForm.default({}), '');
	const fieldNaming = { ...panel, additionalJson };
	const reservedPaths = reserved.map((path) => path.split('.'));
	const rejected = reservedPaths.find((path) => setsPath(additionalJson, path));
	if (rejected)
		item.throwIssue({ label: fieldLabel(rejected, fieldNaming), issue: RESERVED_ISSUE });
	return { value: item.check(schema, deepMerged(value, additionalJson), fieldNaming), fieldNaming };
}

const RESERVED_ISSUE = 'is what the node sets itself: leave it out';

/** Merges two plain objects recursively. If one of the values is not a plain object, `over` replaces `base`. */
function deepMerged(base: unknown, over: unknown): unknown {
	if (!isPlainObject(base) || !isPlainObject(over)) return over;
	const merged = new Map(Object.entries(base as object));
	for (const [key, value] of Object.entries(over as object))
		merged.set(key, deepMerged(merged.get(key), value));
	return Object.fromEntries(merged);
}

/**
 * Builds the request body of an item from its parameters, and checks the body.
 *
 * @param reserved paths that Additional Fields (JSON) must not contain
 * @returns the body, and how error messages name the parts of the body
 * @throws NodeOperationError if a parameter is invalid
 */
export function bodyOf(item: Item, body: OperationBody, reserved = body.reserved) {
	const { fields, fieldByPath, schema, compose = (values) => values } = body;
	const value = compose(item.values(fields));
	return mergeAdditionalFields(item, value, schema, { fields, fieldByPath }, reserved);
}
