import { DateTime } from 'luxon';
import type { INodeParameters } from 'n8n-workflow';

import { derivedId } from '../../../../../../../nodes/XpertAi/payloads/derivedId';
import { submitFields } from '../../../../../../../nodes/XpertAi/operations/document/submit/fields';
import { identification } from '../../../../../../../nodes/XpertAi/operations/document/submit/sources/readers';
import type { DocumentRecord } from '../../../../../../../nodes/XpertAi/payloads/document';
import { itemOf } from '../../../../../support/context';
import { node } from '../../../../../support/node';
import { thrownBy } from '../../../../../support/thrown';

const KNOWLEDGEBASE = '7b0e6c1a-3f52-4f7e-9a44-1d2c3b4a5f60';
const ID = '2f78e81b-096f-42ff-8ac0-8403fd81392d';

/** Identifies a document on a node with these parameters; expressions are given as typed as well. */
function identify(
	document: DocumentRecord,
	parameters: Record<string, unknown>,
	fromFields = false,
	asTyped: Record<string, unknown> = {},
): DocumentRecord {
	const { documentIdMode, ...keys } = parameters;
	const all = { ...keys, documentSettings: { documentIdMode } };
	const getNode = () => ({ ...node, parameters: { ...all, ...asTyped } as INodeParameters });
	const item = itemOf(all, { fields: submitFields, methods: { getNode } });
	const { identify: give } = identification(item, fromFields ? 'documentKey' : 'documentKeyField');
	const { record, key } = give(document);
	return key === undefined ? record : { ...record, id: derivedId(KNOWLEDGEBASE, key) };
}

describe('ids derived from a key', () => {
	const withKeyField = (documentKeyField: string) => ({
		documentIdMode: 'derived',
		documentKeyField,
	});

	it('may come from a field within the document, and from a number', () => {
		const document = { metadata: { source: { row: 7 } } };
		expect(identify(document, withKeyField('metadata.source.row')).id).toBe(
			derivedId(KNOWLEDGEBASE, '7'),
		);
	});

	it.each([undefined, '', ' ', '='])('need a key: with %j documents keep their own id', (key) => {
		const parameters = { documentIdMode: 'derived', documentKeyField: key, documentKey: key };
		expect(identify({ id: ID }, parameters)).toEqual({ id: ID });
		expect(identify({ name: 'a' }, parameters, true)).toEqual({ name: 'a' });
	});

	it.each([undefined, null, '', '  ', {}, true])('are not made of %j', (filePath) => {
		const document = { filePath } as DocumentRecord;
		expect(thrownBy(() => identify(document, withKeyField('filePath'))).message).toBe(
			'"Key Field" names "filePath", which this document does not have',
		);
	});

	it.each(['constructor.name', 'toString.name', '__proto__'])(
		'are not made of what every object inherits: %s',
		(path) => {
			expect(thrownBy(() => identify({ name: 'a' }, withKeyField(path))).message).toBe(
				`"Key Field" names "${path}", which this document does not have`,
			);
		},
	);

	it('may come from a date, and say so of what is no text', () => {
		const documentKey = DateTime.fromISO('2026-01-31T08:00:00Z', { zone: 'utc' });
		const typed = { documentKey: '={{ $json.key }}' };
		const withKey = (key: unknown) =>
			identify({}, { documentIdMode: 'derived', documentKey: key }, true, typed).id;
		expect(withKey(documentKey)).toBe(derivedId(KNOWLEDGEBASE, '2026-01-31T08:00:00.000Z'));
		expect(thrownBy(() => withKey({ a: 1 })).message).toBe(
			'"Document Key" must be text, but is {"a":1}',
		);
	});

	it('are not made of an expression that came out empty', () => {
		const empty = { documentIdMode: 'derived', documentKey: '' };
		const typed = { documentKey: '={{ $json.path }}' };
		expect(thrownBy(() => identify({ name: 'a' }, empty, true, typed)).message).toBe(
			'"Document Key" is empty: its expression gave nothing for this item',
		);
	});
});

describe('ids of the documents themselves', () => {
	it.each(['field', 'derived'])(
		'give pages and chunks none: one that comes again with an id loses its document (%s)',
		(documentIdMode) => {
			const document = { id: ID, pages: [{ pageContent: 'x' }], chunks: [{ id: 'own' }, {}] };
			expect(identify(document, { documentIdMode })).toEqual(document);
		},
	);

	it.each([undefined, null, '', '42', 'a.md'])('must be UUIDs: %j', (id) => {
		const { message } = thrownBy(() => identify({ id }, { documentIdMode: 'field' }));
		expect(message).toMatch(/^The document's ID must be a UUID such as .*$/);
	});
});
