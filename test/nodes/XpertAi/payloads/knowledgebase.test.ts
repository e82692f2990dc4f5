import {
	copilotModelSchema,
	newKnowledgebaseSchema,
	knowledgebaseChangesSchema,
	parserConfigSchema,
	recallSettingsSchema,
} from 'nodes/XpertAi/payloads/knowledgebase';
import { CONTRACT, followsTable } from '../../support/contract';

describe('recall', () => followsTable(recallSettingsSchema, CONTRACT.recall));
describe('parserConfig', () => followsTable(parserConfigSchema, CONTRACT.parserConfig));
describe('copilotModel', () => followsTable(copilotModelSchema, CONTRACT.copilotModel));

describe('a knowledgebase to create', () => {
	followsTable(
		newKnowledgebaseSchema.omit({ name: true, metadataSchema: true }),
		CONTRACT.knowledgebase,
	);

	it('needs no more than a name', () => {
		expect(newKnowledgebaseSchema.parse({ name: 'Manuals' })).toEqual({ name: 'Manuals' });
	});

	it.each([
		['without a name', {}],
		['with an empty name', { name: '' }],
		['with a name that is null', { name: null }],
		['with a name that is a number', { name: 1 }],
	])('is refused %s', (_, body) => {
		expect(newKnowledgebaseSchema.safeParse(body).error?.issues.map(({ path }) => path)).toEqual([
			['name'],
		]);
	});
});

describe('the changes of an update', () => {
	followsTable(
		knowledgebaseChangesSchema.omit({ name: true, metadataSchema: true }),
		CONTRACT.knowledgebase,
	);

	it('may be none at all, and adds none of its own', () => {
		expect(knowledgebaseChangesSchema.parse({})).toEqual({});
	});

	it.each(Object.keys(CONTRACT.knowledgebase))('clears %s with null', (field) => {
		expect(knowledgebaseChangesSchema.parse({ [field]: null })).toEqual({ [field]: null });
	});

	it.each(['topK', 'score'])('clears recall.%s with null', (field) => {
		const changes = { recall: { [field]: null } };
		expect(knowledgebaseChangesSchema.parse(changes)).toEqual(changes);
	});

	it.each([
		['null', null],
		['nothing', ''],
		['a number', 5],
	])('does not set the name to %s, which servers do not take', (_, name) => {
		expect(knowledgebaseChangesSchema.safeParse({ name }).success).toBe(false);
	});
});
