import { binaryFieldName } from '../../../../execution/fields';
import { documentKey, folderFromDirectory, nameSetting, recordSettings } from './shared';
import type { DocumentSource } from './source';

export const files: DocumentSource = {
	value: 'files',
	name: 'Files',
	description: 'Each item is a file: PDF, Word, Markdown, a web page, a table, …',
	fields: [binaryFieldName('the file')],
	settings: [nameSetting, documentKey, folderFromDirectory, ...recordSettings],
	read: (item, { binaryDocument, readDocumentKey, settingsOf }) => {
		const field = item.binary();
		const { fileName, directory = '' } = field.binary;
		const name = item.text('documentSettings.name').trim() || fileName || field.property;
		const place = [directory, fileName || field.property].filter(Boolean).join('/');
		const key = readDocumentKey(item, place, 'The name of the file');
		return [{ key, ...binaryDocument(item, { ...settingsOf(item, directory), name }, field) }];
	},
};
