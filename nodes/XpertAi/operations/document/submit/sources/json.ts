import { jsonBodyField } from '../../../../execution/fields';
import { documentIdMode, documentKeyField } from './shared';
import type { DocumentSource } from './source';

const exampleDocuments =
	'[\n  {\n    "name": "manual.md",\n    "fileUrl": "https://example.com/manual.md"\n  }\n]';

export const json: DocumentSource = {
	value: 'json',
	name: 'JSON',
	description: 'Each item brings an array of documents as JSON',
	fields: [jsonBodyField(exampleDocuments)],
	settings: [documentIdMode, documentKeyField],
	simplifies: true,
	read: (item, { documentList, givenDocuments }) => {
		const { toDocument, identify, prepare } = givenDocuments(item);
		const found = item.jsonBody(documentList(prepare));
		const body = `"${item.labelOf('jsonBody')}"`;
		return found.map((document, index) =>
			toDocument(
				identify(document, found.length > 1 ? `Document ${index + 1} of ${body}` : undefined),
			),
		);
	},
};
