import { attempt } from 'lodash';

import { identityText } from '../../../../execution/identityFields';
import type { Item } from '../../../../execution/item';
import { unsignedAddress } from '../../../../payloads/signedAddress';
import { readDocumentSettings } from './documentSettings';
import type { InputDocument } from './inputDocument';
import { readyRecord } from './readyRecord';
import { NAME_PARAMETER } from './text';

export function readAddressDocument(item: Item): InputDocument {
	const url = identityText(item, 'url');
	if (!/^https?:\/\/[^/]/i.test(url) || !URL.canParse(url))
		item.throwFieldIssue(
			'url',
			'must be a web address such as https://example.com/manual.pdf',
			url,
		);
	const name = item.text(NAME_PARAMETER).trim() || lastPart(new URL(url));
	const { record, ...metadataFacts } = readDocumentSettings(item);
	const ready = readyRecord(item, { name, fileUrl: url, ...record });
	return { ...ready, key: unsignedAddress(url), ...metadataFacts };
}

export const stableAddress = (item: Item) => unsignedAddress(identityText(item, 'url'));

/** Returns the last part of a URL path, or the host name. */
function lastPart({ pathname, hostname }: URL): string {
	const last = pathname.split('/').findLast((part) => part !== '') ?? hostname;
	const decoded = attempt(decodeURIComponent, last);
	return typeof decoded === 'string' ? decoded : last;
}
