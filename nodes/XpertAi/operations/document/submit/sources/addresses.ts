import type { INodeProperties } from 'n8n-workflow';

import { documentKey, nameSetting, recordSettings } from './shared';
import type { DocumentSource } from './source';

const urlField: INodeProperties = {
	displayName: 'Address',
	name: 'url',
	type: 'string',
	default: '',
	required: true,
	placeholder: 'e.g. https://example.com/manual.pdf',
	description: 'The address the server fetches the document from, without any token of yours',
};

export const addresses: DocumentSource = {
	value: 'addresses',
	name: 'Addresses',
	description: 'Each item is an address that the server fetches by itself',
	fields: [urlField],
	settings: [nameSetting, documentKey, ...recordSettings],
	read: (item, { checkedRecord, readDocumentKey, settingsOf }) => {
		const url = item.text('url').trim();
		if (!/^https?:\/\/[^/]/i.test(url) || !URL.canParse(url)) {
			const demand = 'must be a web address such as https://example.com/manual.pdf';
			return item.refuse({ subject: `"${item.labelOf('url')}"`, demand, value: url });
		}
		const name = item.text('documentSettings.name').trim() || lastPart(new URL(url));
		const record = checkedRecord(item, { name, fileUrl: url, ...settingsOf(item) });
		return [{ key: readDocumentKey(item, url, `"${item.labelOf('url')}"`), record }];
	},
};

/** The last part of the path of an address, or its host if the path is empty. */
function lastPart({ pathname, hostname }: URL): string {
	const last = pathname.split('/').filter(Boolean).at(-1);
	if (last === undefined) return hostname;
	try {
		return decodeURIComponent(last);
	} catch {
		return last;
	}
}
