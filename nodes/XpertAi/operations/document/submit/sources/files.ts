import { chosenBinaryField } from '../../../../execution/binary';
import type { Item } from '../../../../execution/item';
import { readDocumentSettings } from './documentSettings';
import { binaryDocument } from './fileDocument';
import type { InputDocument } from './inputDocument';
import { NAME_PARAMETER } from './text';

export function readFileDocument(item: Item): InputDocument {
	const field = chosenBinaryField(item);
	const { fileName, directory = '' } = field.binary;
	const name = item.text(NAME_PARAMETER).trim() || fileName || field.property;
	const { record, ...metadataFacts } = readDocumentSettings(item, directory);
	return { ...binaryDocument(item, { ...record, name }, field), ...metadataFacts };
}

export function pathOfFile(item: Item): string {
	const { binary, property } = chosenBinaryField(item);
	return [binary.directory, binary.fileName || property].filter(Boolean).join('/');
}
