import { DateTime } from 'luxon';
import type { INodeParameters } from 'n8n-workflow';

import { keyIfGiven } from '../../../../../../../nodes/XpertAi/execution/keys';
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
	const typed = { ...parameters, ...asTyped } as INodeParameters;
	const getNode = () => ({ ...node, parameters: typed });
	const item = itemOf(parameters, { fields: submitFields, methods: { getNode } });
	const key = fromFields
		? keyIfGiven(item, 'documentKey')
		: identification(item).identify(document).key;
	return key === undefined ? document : { ...document, id: derivedId(KNOWLEDGEBASE, key) };
}

describe('ids derived from a key', () => {
	const withKeyField = (documentKeyField: string) => ({ documentKeyField });

	it('may come from a field within the document, and from a number', () => {
		const document = { metadata: { source: { row: 7 } } };
		expect(identify(document, withKeyField('metadata.source.row')).id).toBe(
			derivedId(KNOWLEDGEBASE, '7'),
		);
	});

	it.each([undefined, '', ' ', '='])('need a key: with %j documents keep their own id', (key) => {
		const parameters = { documentKeyField: key, documentKey: key };
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
		const withKey = (key: unknown) => identify({}, { documentKey: key }, true, typed).id;
		expect(withKey(documentKey)).toBe(derivedId(KNOWLEDGEBASE, '2026-01-31T08:00:00.000Z'));
		expect(thrownBy(() => withKey({ a: 1 })).message).toBe(
			'"Document Key" must be text, but is {"a":1}',
		);
	});

	it('are not made of an expression that came out empty', () => {
		const empty = { documentKey: '' };
		const typed = { documentKey: '={{ $json.path }}' };
		expect(thrownBy(() => identify({ name: 'a' }, empty, true, typed)).message).toBe(
			'"Document Key" is empty: its expression gave nothing for this item',
		);
	});
});
