import { mapValues } from 'lodash';

import { documentParameters, getDocumentFields } from 'nodes/XpertAi/pickers/documentFields';
import { documentSchema } from 'nodes/XpertAi/payloads/document';
import { CONTRACT } from '../../support/contract';

/** The mapper's type for each type of the contract; none where the contract leaves it open. */
const MAPPER_TYPES: Record<string, string | undefined> = {
	string: 'string',
	UUID: 'string',
	'date-time': 'string',
	number: 'number',
	boolean: 'boolean',
	object: 'object',
	array: 'array',
	any: undefined,
};

describe('the fields of a document in the mapper', () => {
	it('are all of the contract, each with its type', async () => {
		const { fields } = await getDocumentFields();
		expect(Object.fromEntries(fields.map(({ id, type }) => [id, type]))).toEqual(
			mapValues(CONTRACT.document, (type) => MAPPER_TYPES[String(type)]),
		);
		expect(fields.map(({ id }) => id).sort()).toEqual(Object.keys(documentSchema.shape).sort());
	});

	it('are read as what they are, and as JSON where they are no plain value', () => {
		expect(Object.fromEntries(documentParameters.map(({ name, type }) => [name, type]))).toEqual(
			mapValues(CONTRACT.document, (type) => {
				const own = MAPPER_TYPES[String(type)] ?? '';
				return ['string', 'number', 'boolean'].includes(own) ? own : 'json';
			}),
		);
	});

	it('are none of them required, and none matched by itself', async () => {
		for (const { required, defaultMatch, display } of (await getDocumentFields()).fields) {
			expect([required, defaultMatch, display]).toEqual([false, false, true]);
		}
	});

	it('show the usual ones first and keep the others in the list', async () => {
		const { fields } = await getDocumentFields();
		const shown = fields.slice(0, 3).map(({ id }) => id);
		expect(shown.sort()).toEqual(['fileUrl', 'name', 'storageFileId']);
		expect(fields.findIndex(({ removed }) => removed)).toBe(3);
	});

	it('say what a user must know of them', async () => {
		const { fields } = await getDocumentFields();
		const named = (id: string) => fields.find((field) => field.id === id)?.displayName;
		expect(named('folder')).toBe('Folder (a path, such as Dept/Sales)');
		expect(named('filePath')).toBe("File Path (on the server's own disk)");
		expect(named('parserConfig')).toBe(
			'Parser Config (JSON with chunkSize, chunkOverlap, delimiter)',
		);
	});

	it('name those whose spelling surprises', async () => {
		const { fields } = await getDocumentFields();
		expect(fields.find(({ id }) => id === 'id')?.displayName).toBe('ID (UUID)');
		expect(fields.find(({ id }) => id === 'processDuation')?.displayName).toBe(
			'Process Duration (processDuation)',
		);
		expect(new Set(fields.map(({ displayName }) => displayName)).size).toBe(fields.length);
	});
});
