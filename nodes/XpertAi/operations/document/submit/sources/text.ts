import type { INodeProperties } from 'n8n-workflow';

import { documentKey, nameSetting, recordSettings } from './shared';
import type { DocumentSource } from './source';

const textField: INodeProperties = {
	displayName: 'Text',
	name: 'text',
	type: 'string',
	typeOptions: { rows: 4 },
	default: '',
	required: true,
	placeholder: 'e.g. Devices can be returned within 30 days.',
	description: 'The text itself: plain, Markdown or HTML. It is uploaded as a file.',
};

const FILES_MEANT = 'must not be empty. The items hold files: set Documents From to Files';

export const text: DocumentSource = {
	value: 'text',
	name: 'Text',
	description: 'Each item is a text',
	fields: [textField],
	settings: [nameSetting, documentKey, ...recordSettings],
	read: (
		item,
		{ hasFileInstead, readDocumentKey, nameOfText, settingsOf, textDocument, wholeText },
	) => {
		if (hasFileInstead(item, 'text'))
			item.refuse({ subject: `"${textField.displayName}"`, demand: FILES_MEANT });
		const content = wholeText(item, 'text');
		const name = nameOfText(item);
		const key = readDocumentKey(item, name, `"${item.labelOf('documentSettings.name')}"`);
		return [{ key, ...textDocument(item, { ...settingsOf(item), name }, content) }];
	},
};
