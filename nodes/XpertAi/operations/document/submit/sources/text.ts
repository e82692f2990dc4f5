import { attempt, isEmpty, isNil } from 'lodash';

import { isFilled, isNothing } from '../../../../execution/givenValues';
import { identityText } from '../../../../execution/identityFields';
import type { Item } from '../../../../execution/item';
import { textIfGiven } from '../../../../execution/reader';
import { mapColumns } from './columns';
import { readDocumentSettings } from './documentSettings';
import { textDocument } from './fileDocument';
import type { FoundDocument } from './found';

export const NAME_PARAMETER = 'name';

const FILES_MEANT = 'must not be empty. The items hold files: set Documents From to Files';

export function readText(item: Item): FoundDocument {
	// `filledText` tells what is wrong with an expression that fails.
	if (!isEmpty(item.input.binary) && isNothing(attempt(() => item.resolve('text', ''))))
		item.throwFieldIssue('text', FILES_MEANT);
	const text = item.filledText('text');
	const { record, missingMetadata } = readDocumentSettings(item);
	const name = nameOfText(item);
	return { ...textDocument(item, { ...record, name }, text), key: name, missingMetadata };
}

/** The name of a text document, from the parameter Name or from a column such as `title`. It may be the key as well. */
export function nameOfText(item: Item): string {
	if (isFilled(item.node, NAME_PARAMETER)) {
		const isKey = !isFilled(item.node, 'documentKey');
		return isKey ? identityText(item, NAME_PARAMETER) : (textIfGiven(item, NAME_PARAMETER) ?? '');
	}
	const { name } = mapColumns(item.input.json).fields;
	const text = isNil(name) ? '' : String(name).trim();
	const field = `"${item.labelOf(NAME_PARAMETER)}"`;
	const issue = 'must be given, as the item has no name and no title';
	return text || item.throwIssue({ field, issue, advice: 'Fill in "Name".' });
}
