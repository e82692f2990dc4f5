import type { INodeParameters } from 'n8n-workflow';

import { optionalKnowledgebaseFields } from '../../nodes/XpertAi/operations/knowledgebase/fields';
import { bodyOf } from '../nodes/support/operations';
import { EMPTY_WORDS } from '../nodes/support/thrown';
import { useFixture } from './support/fixture';
import { byId } from './support/locators';

const fixture = useFixture();

const UNKNOWN = '11111111-1111-4111-8111-111111111111';

const store = (operation: string) => ({ resource: 'store', operation });
const update = {
	resource: 'knowledgebase',
	operation: 'update',
	knowledgebaseId: byId(UNKNOWN),
	updateFields: { description: 'new' },
};
const create = { resource: 'knowledgebase', operation: 'create', name: 'Manuals' };
const session = { resource: 'chatSession', operation: 'create', assistantId: byId(UNKNOWN) };
const deleteFile = { resource: 'fileContext', operation: 'delete', fileId: byId(UNKNOWN) };

const BROKEN = { statusCode: 500, message: 'Internal server error' };
const FORBIDDEN = { statusCode: 403, message: 'Forbidden' };
const NO_RECORD = { statusCode: 404, message: 'The requested record was not found' };
const NO_COPILOT = { statusCode: 404, message: "Copilot not set for embedding model 'm'" };
const NAME_EXISTS = { statusCode: 400, message: 'Name Exist' };

describe('what to do after a failure', () => {
	it.each<[string, INodeParameters, { statusCode: number; message: string } | undefined, string]>([
		['a search without an assistant', store('searchItems'), BROKEN, 'They take no filter.'],
		['that search', store('searchItems'), BROKEN, 'the first element of "Namespace Prefix" is the'],
		['a namespace', store('createNamespace'), BROKEN, 'the first element of "Prefix" is the ID of'],
		[
			'a key that may not count',
			{ resource: 'assistant', operation: 'count' },
			FORBIDDEN,
			"A user's",
		],
		['a new knowledgebase', create, FORBIDDEN, "A workspace's key creates and updates no"],
		['a changed knowledgebase', update, FORBIDDEN, "A workspace's key creates and updates no"],
		[
			'a file that is gone',
			deleteFile,
			undefined,
			'is no storageFileId, to a file that is gone, and',
		],
		['an unknown record of the path', update, undefined, 'Check "Knowledgebase".'],
		['an unknown record of the body', session, NO_RECORD, 'Check "Assistant".'],
		[
			'something named that is missing',
			update,
			NO_COPILOT,
			'Check the IDs and names you have given.',
		],
		['a name that is taken', create, NAME_EXISTS, 'Choose another name, or update that one'],
	])('is said for %s', async (_, parameters, body, words) => {
		if (body) fixture.sandbox.faults.add({ do: 'status', status: body.statusCode, body });
		const { error } = await fixture.run(parameters);
		expect(error?.message).toMatch(/^The server answered \d+: ./);
		expect(error?.description).toContain(words);
		expect(error?.description).not.toMatch(EMPTY_WORDS);
	});
});

describe('the editor', () => {
	it('offers to clear every optional field but the embedding model, which servers keep', () => {
		const fields = bodyOf('knowledgebase', 'update').fields;
		const { options = [] } = fields.find(({ name }) => name === 'clearFields') ?? {};
		const offered = options.map((option) => 'value' in option && option.value);
		expect(offered).not.toContain('copilotModel');
		expect(offered).toHaveLength(optionalKnowledgebaseFields.length - 1);
	});
});
