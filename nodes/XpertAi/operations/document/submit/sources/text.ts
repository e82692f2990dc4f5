import type { INodeProperties } from 'n8n-workflow';

import { documentSettings, keyOrName, nameField } from './shared';
import type { Source } from './source';

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

export const text: Source = {
	value: 'text',
	name: 'Text',
	description: 'Each item is a text',
	fields: [{ ...nameField, required: true }, textField],
	identity: [keyOrName],
	settings: [documentSettings],
	read: (item, { hasFileInstead, keyOf, settingsOf, textDocument, wholeText }) => {
		if (hasFileInstead(item, 'text'))
			item.refuse({ subject: `"${textField.displayName}"`, demand: FILES_MEANT });
		const content = wholeText(item, 'text');
		const name = wholeText(item, 'name').trim();
		const key = keyOf(item, name, `"${item.labelOf('name')}"`);
		return [{ key, ...textDocument(item, { ...settingsOf(item), name }, content) }];
	},
};
