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
	placeholder: 'e.g. {{ $json.text }}',
	description: 'The text itself: plain, Markdown or HTML. It is uploaded as a file.',
};

export const text: Source = {
	value: 'text',
	name: 'Text',
	description: 'Each item is a text',
	fields: [{ ...nameField, required: true }, textField],
	identity: [keyOrName],
	settings: [documentSettings],
	read: (item, { keyOf, settingsOf, textDocument, wholeText }) => {
		if (item.hasFile && item.text('text') === '')
			item.refuse({ subject: 'The items hold files:', demand: 'set Documents From to Files' });
		const content = wholeText(item, 'text');
		const name = wholeText(item, 'name').trim();
		const key = keyOf(item, name);
		return [{ key, ...textDocument(item, { ...settingsOf(item), name }, content) }];
	},
};
