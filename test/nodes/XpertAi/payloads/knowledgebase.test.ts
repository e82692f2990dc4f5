import {
	copilotModel,
	knowledgebase,
	knowledgebaseChanges,
	parserConfig,
	recallSettings,
} from '../../../../nodes/XpertAi/payloads/knowledgebase';
import { followsTable } from '../../support/contract';
import type { ContractTable } from '../../support/contract';

/** The contract's table "Knowledgebase". The name has a stricter test of its own. */
const KNOWLEDGEBASE: ContractTable = {
	workspaceId: 'UUID',
	description: 'string',
	permission: ['private', 'organization', 'public'],
	type: ['standard', 'external'],
	recall: 'object',
	parserConfig: 'object',
	integrationId: 'UUID',
	extKnowledgebaseId: 'string',
	copilotModel: 'object',
};

const RECALL: ContractTable = { topK: 'integer', score: 'number' };

const PARSER_CONFIG: ContractTable = {
	...{ chunkSize: 'integer', chunkOverlap: 'integer', delimiter: 'string' },
};

const COPILOT_MODEL: ContractTable = { copilotId: 'string', modelType: 'string', model: 'string' };

describe('recall', () => followsTable(recallSettings, RECALL));
describe('parserConfig', () => followsTable(parserConfig, PARSER_CONFIG));
describe('copilotModel', () => followsTable(copilotModel, COPILOT_MODEL));

describe('a knowledgebase to create', () => {
	followsTable(knowledgebase.omit({ name: true, metadataSchema: true }), KNOWLEDGEBASE);

	it('needs no more than a name', () => {
		expect(knowledgebase.parse({ name: 'Manuals' })).toEqual({ name: 'Manuals' });
	});

	it.each([{}, { name: '' }, { name: null }, { name: 1 }])('is refused as %j', (body) => {
		expect(knowledgebase.safeParse(body).error?.issues.map(({ path }) => path)).toEqual([['name']]);
	});
});

describe('the changes of an update', () => {
	followsTable(knowledgebaseChanges.omit({ name: true, metadataSchema: true }), KNOWLEDGEBASE);

	it('may be none at all, and adds none of its own', () => {
		expect(knowledgebaseChanges.parse({})).toEqual({});
	});

	it.each(Object.keys(KNOWLEDGEBASE))('clears %s with null', (field) => {
		expect(knowledgebaseChanges.parse({ [field]: null })).toEqual({ [field]: null });
	});

	it.each(['topK', 'score'])('clears recall.%s with null', (field) => {
		const changes = { recall: { [field]: null } };
		expect(knowledgebaseChanges.parse(changes)).toEqual(changes);
	});

	it.each([null, '', 5])('does not set the name to %j, which servers do not take', (name) => {
		expect(knowledgebaseChanges.safeParse({ name }).success).toBe(false);
	});
});
