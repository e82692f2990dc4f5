import { attempt, isEmpty, isNil } from 'lodash';

import { isNothing, isParameterFilled } from '../../../../execution/givenValues';
import { identityText } from '../../../../execution/identityFields';
import type { Item } from '../../../../execution/item';
import { textIfGiven } from '../../../../execution/parameterReader';
import { mapColumns } from './columns';
import { readDocumentSettings } from './documentSettings';
import { documentFromText } from './fileDocument';
import type { InputDocument } from './inputDocument';

export const NAME_PARAMETER = 'name';

const EMPTY_TEXT_ISSUE =
	'must not be empty. Correct its expression or, if the file of the item is meant, set "Documents From" to Files';

export function readTextDocument(item: Item): InputDocument {
	// `attempt` passes over an expression that fails: `filledText` below tells what is wrong with it.
	if (!isEmpty(item.input.binary) && isNothing(attempt(() => item.readWithoutChecks('text', ''))))
		item.throwFieldIssue('text', EMPTY_TEXT_ISSUE);
	const text = item.filledText('text');
	const { record, ...metadataFacts } = readDocumentSettings(item);
	const name = nameOfText(item);
	return { ...documentFromText(item, { ...record, name }, text), key: name, ...metadataFacts };
}

/**
 * Returns the name of a text document, from the parameter Name or from a column such as `title`. Without a Document Key,
 * the name is the key as well, so its expression must not lack a part.
 *
 * @throws NodeOperationError if there is no name, or if the name is the key and lacks a part
 */
export function nameOfText(item: Item): string {
	if (isParameterFilled(item.node, NAME_PARAMETER)) {
		const isKey = !isParameterFilled(item.node, 'documentKey');
		return isKey ? identityText(item, NAME_PARAMETER) : (textIfGiven(item, NAME_PARAMETER) ?? '');
	}
	const { name } = mapColumns(item.input.json).fields;
	const text = isNil(name) ? '' : String(name).trim();
	const label = `"${item.labelOf(NAME_PARAMETER)}"`;
	const issue = 'must be given, as the item has no name and no title';
	return text || item.throwIssue({ label, issue, advice: 'Fill in "Name".' });
}
