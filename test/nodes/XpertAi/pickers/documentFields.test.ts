import { getDocumentFields } from '../../../../nodes/XpertAi/pickers/documentFields';
import { document } from '../../../../nodes/XpertAi/payloads/document';

/** Every field of the contract's Document record, with the mapper's type. `parent` has none. */
const TYPES: Record<string, string | undefined> = {
	id: 'string',
	createdAt: 'string',
	updatedAt: 'string',
	createdById: 'string',
	updatedById: 'string',
	disabled: 'boolean',
	storageFileId: 'string',
	parserConfig: 'object',
	pages: 'array',
	chunks: 'array',
	sourceConfig: 'object',
	type: 'string',
	thumbnail: 'string',
	parserId: 'string',
	name: 'string',
	filePath: 'string',
	fileUrl: 'string',
	folder: 'string',
	size: 'number',
	mimeType: 'string',
	tokenNum: 'number',
	chunkNum: 'number',
	progress: 'number',
	processMsg: 'string',
	processBeginAt: 'string',
	processDuation: 'number',
	jobId: 'string',
	options: 'object',
	metadata: 'object',
	draft: 'object',
	parent: undefined,
};

describe('the fields of a document in the mapper', () => {
	it('are all of the contract, each with its type', async () => {
		const { fields } = await getDocumentFields();
		expect(Object.fromEntries(fields.map(({ id, type }) => [id, type]))).toEqual(TYPES);
		expect(fields.map(({ id }) => id).sort()).toEqual(Object.keys(document.shape).sort());
	});

	it('are none of them required, and none matched by itself', async () => {
		for (const { required, defaultMatch, display } of (await getDocumentFields()).fields) {
			expect({ required, defaultMatch, display }).toEqual({
				required: false,
				defaultMatch: false,
				display: true,
			});
		}
	});

	it('show the usual ones first and keep the others in the list', async () => {
		const { fields } = await getDocumentFields();
		const shown = fields.filter(({ removed }) => !removed).map(({ id }) => id);
		expect(shown.sort()).toEqual(['filePath', 'name', 'type']);
	});

	it('name the field whose spelling surprises', async () => {
		const { fields } = await getDocumentFields();
		expect(fields.find(({ id }) => id === 'processDuation')?.displayName).toBe(
			'Process Duration (processDuation)',
		);
		expect(new Set(fields.map(({ displayName }) => displayName)).size).toBe(fields.length);
	});
});
