import { isExpression } from 'n8n-workflow';

import { partsOf } from '../../../payloads/template';
import { templateParserOf } from '../../../execution/expressions';
import { isParameterFilled, unresolvedValue } from '../../../execution/givenValues';
import type { ParameterReader } from '../../../execution/parameterReader';

/**
 * Throws an error if the field for the version is fixed and there are several items. Then all documents would have the
 * same version, and none would ever count as changed. Does not compare the versions that an expression gives.
 *
 * @param count the number of input items
 */
export function throwIfFixedVersion(item: ParameterReader, name: string, count: number): void {
	if (count > 1 && hasConstantValue(item, name))
		item.throwFieldIssue(name, FIXED_VERSION_ISSUE, undefined, FIXED_VERSION_ADVICE);
}

/**
 * Throws an error if the field for the key is fixed and there are several items. Then all documents would have the same
 * key, and each would replace the one before. Does not compare the keys that an expression gives.
 *
 * @param count the number of input items of the source
 */
export function throwIfFixedKey(item: ParameterReader, count: number): void {
	if (count > 1 && hasConstantValue(item, DOCUMENT_KEY))
		item.throwFieldIssue(DOCUMENT_KEY, FIXED_KEY_ISSUE, undefined, FIXED_KEY_ADVICE);
}

/**
 * Whether a field is filled in with a text, or with an expression that has only fixed text and numbers.
 *
 * @throws NodeOperationError if the text is an expression in a Fixed field
 */
function hasConstantValue(item: ParameterReader, name: string): boolean {
	const given = unresolvedValue(item.node, name);
	if (!isParameterFilled(item.node, name)) return false;
	if (isExpression(given) && partsOf(templateParserOf(item.node)(given)).length > 0) return false;
	item.throwIfExpressionInFixed(name);
	return true;
}

const DOCUMENT_KEY = 'documentKey';

const FIXED_VERSION_ISSUE =
	'is Fixed, so all documents have the same version and none would ever count as changed';

const FIXED_VERSION_ADVICE =
	'Switch the field to Expression, and read the version from the item: {{ $json.updated_at }}. For a JSON or a file of records, Submit has "Version Field" for the name of a field.';

const FIXED_KEY_ISSUE =
	'is Fixed, so all documents have the same key and only the last would be kept';

const FIXED_KEY_ADVICE =
	'Switch the field to Expression, and read the key from the item: {{ $json.path }}. A JSON or a file of records has "Key Field" for the name of a field.';
