import { omit } from 'lodash';

import type { ItemError } from '../../../../execution/apiError';
import { type BinaryField, chosenBinaryField } from '../../../../execution/binary';
import { textChunks } from './fileText';
import { shownValue } from '../../../../execution/issueText';
import type { Item } from '../../../../execution/item';
import { textIfGiven } from '../../../../execution/parameterReader';
import { type FileRecord, jsonRecords } from './jsonRecords';
import type { DocumentRecord } from '../../../../payloads/document';
import { hasLoneSurrogate, LONE_SURROGATE_ISSUE } from '../../../../payloads/loneSurrogates';
import { documentFromText } from './fileDocument';
import { errorWithKey, type InputDocument } from './inputDocument';
import { isFilledText, jsonDocument, ownValue, recordCheckerFor } from './json';

/** Reads the documents of a file of records, in groups. Yields an error for each unreadable record. */
export async function* readRecordDocuments(
	item: Item,
): AsyncGenerator<Array<InputDocument | ItemError>> {
	const binaryField = chosenBinaryField(item);
	const readRecord = recordCheckerFor(item);
	const textPath = textIfGiven(item, 'textField');
	const documentOf = (read: FileRecord) => {
		const { positionText: position } = read;
		let key: string | undefined;
		try {
			if ('issue' in read) return item.throwIssue({ label: position, issue: read.issue });
			const found = readRecord(read.value, position);
			({ key } = found);
			return textPath === undefined
				? jsonDocument(item, found, { parameterLabel: position })
				: documentWithTextFile(item, found, textPath, position, binaryField);
		} catch (caught) {
			const error = item.asError(caught);
			const correction =
				'issue' in read
					? 'the file, or set "Documents From" to Files if it holds no records'
					: 'the file, or the field of the node that the message names';
			error.description = `This record was not sent. Correct ${correction}.`;
			return errorWithKey(key, error);
		}
	};
	for await (const group of jsonRecords(textChunks(item, binaryField))) yield group.map(documentOf);
}

/**
 * Makes a document from a record with a text at `path`. The node uploads the text as a file.
 *
 * @param position the place of the record, e.g. `Line 3 of the file`
 */
function documentWithTextFile(
	item: Item,
	found: InputDocument,
	path: string,
	position: string,
	{ property, binary }: BinaryField,
): InputDocument {
	const text = ownValue(found.record, path);
	const label = `${position}: "${item.labelOf('textField')}"`;
	if (!isFilledText(text))
		return item.throwIssue({ label, issue: `names ${shownValue(path)}, which holds no text here` });
	if (hasLoneSurrogate(text)) item.throwIssue({ label, issue: LONE_SURROGATE_ISSUE });
	const rest: DocumentRecord = omit(found.record, path);
	const place = position.replace(' of the file', '').toLowerCase();
	// Begins with the file name, because records of different files need different names.
	const name = isFilledText(rest.name) ? rest.name : `${binary.fileName || property}, ${place}`;
	return { ...found, ...documentFromText(item, { ...rest, name }, text) };
}
