import { omit } from 'lodash';
import type { INodeParameters } from 'n8n-workflow';

import { COPILOT_ID } from 'sandbox';
import { answering } from './support/faults';
import { BY_NAME, hintsOf, useIngest, rows } from './support/ingest';

const { fixture, add, sent, submit } = useIngest();

/** The recorded answer of the server while it embeds everything anew. */
const REBUILDING = {
	do: 'status',
	status: 400,
	body: { message: 'Embedding rebuild is running', error: 'Bad Request', statusCode: 400 },
} as const;

const knowledgebase = async (operation: string, parameters: INodeParameters = {}) =>
	await fixture.run({
		resource: 'knowledgebase',
		operation,
		knowledgebaseId: fixture.world.knowledgebaseId,
		...parameters,
	});

const newModel = { copilotId: COPILOT_ID, modelType: 'text-embedding', model: 'another' };

describe('Knowledgebase: Get', () => {
	it('says whether it is ready, and its models, and changes nothing but when it was updated', async () => {
		await knowledgebase('update', { updateFields: { copilotModel: newModel } });
		const { knowledgebases } = fixture.sandbox.store;
		const before = { ...knowledgebases.get(fixture.world.knowledgebaseId) };
		const { items } = await knowledgebase('get');
		expect(items.map(({ json }) => json)).toEqual([
			expect.objectContaining({
				id: fixture.world.knowledgebaseId,
				status: 'ready',
				embeddingModel: 'another',
				documentNum: null,
				embeddingRebuildError: null,
				nextEmbeddingModel: null,
			}),
		]);
		const after = { ...knowledgebases.get(fixture.world.knowledgebaseId) };
		expect({ ...after, updatedAt: before.updatedAt }).toEqual(before);
	});
});

it.each([
	['without', {}, 1],
	['with', { copilotModel: newModel }, 0],
	['without the copilot of', { copilotModel: omit(newModel, 'copilotId') }, 1],
	['that needs no', { type: 'external' }, 0],
])(
	'Knowledgebase: Create %s an embedding model says whether anything will be found',
	async (_, more, hints) => {
		const result = await knowledgebase('create', { name: 'New', additionalFields: more });
		const hint =
			'Without an Embedding Model and its Copilot ID, nothing in it will be found. Knowledgebase: Update gives it one.';
		expect(hintsOf(result)).toEqual(Array.from({ length: hints }, () => hint));
	},
);

describe('a new embedding model', () => {
	const update = async () => {
		const { knowledgebaseId: id } = fixture.world;
		const body = { id, status: 'rebuilding' };
		add(answering('E2', 200, { body }));
		return await knowledgebase('update', { updateFields: { description: 'x' } });
	};

	it('has everything embedded anew, which Update says', async () => {
		expect(hintsOf(await update())).toEqual([
			'The server is rebuilding the index. Until then it stores and processes nothing; Knowledgebase: Get shows the status.',
		]);
	});

	it('and nothing is said of an update that changes none', async () => {
		expect(hintsOf(await knowledgebase('update', { updateFields: { description: 'x' } }))).toEqual(
			[],
		);
	});

	it('that takes longer than Retry for is told as what it is, with what to do', async () => {
		add({ endpoint: 'E3', ...REBUILDING });
		const { error } = await submit(
			{ ...BY_NAME, tuning: { retryMinutes: 0 } },
			{ items: rows(10) },
		);
		expect(error?.message).toContain('The server answered 400: Embedding rebuild is running');
		expect(error?.description).toContain(
			'makes all documents of this knowledgebase searchable anew',
		);
		expect(error?.description).toContain('Knowledgebase: Get tells its status');
		expect(sent('E3')).toHaveLength(1);
	});
});

describe('a metadata schema', () => {
	const schemaOf = () =>
		fixture.sandbox.store.knowledgebases.get(fixture.world.knowledgebaseId)?.metadataSchema;

	const DEPARTMENT = { key: 'department', type: 'string' };

	const updateWith = async (values: INodeParameters[]) =>
		await knowledgebase('update', { updateFields: { metadataSchema: { values } } });

	it('is made of rows, of which only those of a few texts have allowed values', async () => {
		const level = { key: 'level', type: 'enum', enumValues: ['public', 'internal'] };
		await updateWith([DEPARTMENT, level]);
		expect(schemaOf()).toEqual([
			{ ...DEPARTMENT, scope: 'document' },
			{ ...level, scope: 'document' },
		]);
		const { items } = await knowledgebase('get');
		expect(items[0]?.json.metadataSchema).toEqual(schemaOf());
	});

	it('is there from the start', async () => {
		const { items } = await knowledgebase('create', {
			name: 'With departments',
			additionalFields: { metadataSchema: { values: [DEPARTMENT] } },
			simplify: false,
		});
		expect(items[0]?.json.metadataSchema).toEqual([{ ...DEPARTMENT, scope: 'document' }]);
	});

	it('is emptied by Clear Fields', async () => {
		await updateWith([DEPARTMENT]);
		await knowledgebase('update', { clearFields: ['metadataSchema'] });
		expect(schemaOf()).toEqual([]);
	});
});

describe('Knowledgebase: Create', () => {
	it('says that a name is taken, and what to do', async () => {
		const create = async () => await knowledgebase('create', { name: 'Twice' });
		expect((await create()).error).toBeUndefined();
		const { error } = await create();
		expect(error?.message).toContain('Name Exist');
		expect(error?.description).toMatch(/has this name already\..*Knowledgebase: Update\.$/);
	});

	it('gives no advice about names for another refusal', async () => {
		add(answering('E1', 400, { body: { message: 'type must be one of' } }));
		const { error } = await knowledgebase('create', { name: 'Other' });
		expect(error?.description ?? '').not.toContain('this name');
	});
});
