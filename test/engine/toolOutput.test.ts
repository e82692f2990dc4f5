import { omit } from 'lodash';
import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { BROKEN_ASSISTANT_ID } from 'sandbox';
import { column, hintsOf } from './support/ingest';
import { byId } from './support/locators';
import { ask, says, useRuns } from './support/runs';

const { fixture, newThread } = useRuns();

async function given(parameters: INodeParameters, isTool = true) {
	const { items, error } = await fixture.run(parameters, { items: [{ json: {} }], isTool });
	// The sandbox counts documents when it is asked, and writes the time of that down.
	return { json: omit(items[0]?.json, 'updatedAt') as IDataObject, error };
}

const raw = async (parameters: INodeParameters) =>
	(await given({ ...parameters, simplify: false }, false)).json;

describe('what the model of an agent gets', () => {
	let getOne: INodeParameters;

	beforeEach(() => {
		const { id } = fixture.sandbox.store.putKnowledgebase({ name: 'Handbook' });
		getOne = { resource: 'knowledgebase', operation: 'get', knowledgebaseId: byId(id) };
	});

	it('is simplified at first, whatever Simplify has held in the workflow', async () => {
		const simplified = (await given({ ...getOne, simplify: true }, false)).json;
		expect((await given(getOne)).json).toEqual(simplified);
		expect((await given({ ...getOne, simplify: false })).json).toEqual(simplified);
	});

	it('is all that the server gives where it is raw', async () => {
		expect((await given({ ...getOne, toolOutput: 'raw' })).json).toEqual(await raw(getOne));
	});

	it('is the fields that were selected from it', async () => {
		const { json } = await given({ ...getOne, toolOutput: 'selected', toolFields: 'name, type' });
		const all = await raw(getOne);
		expect(json).toEqual({ name: 'Handbook', type: all?.type });
	});

	it('names what it lacks of the fields that were selected', async () => {
		const result = await fixture.run(
			{ ...getOne, toolOutput: 'selected', toolFields: 'name, colour' },
			{ isTool: true },
		);
		expect(result.items[0]?.json).toEqual({ name: 'Handbook' });
		expect(hintsOf(result)).toEqual([
			expect.stringMatching(/^This output lacks what "Fields" names: colour\. It has: .*\bname, /),
		]);
	});

	it('names what it lacks once for all records, and takes the path of a field', async () => {
		const { id } = fixture.sandbox.store.putKnowledgebase({ name: 'Manuals', recall: { topK: 3 } });
		const result = await fixture.run(
			{
				...getOne,
				knowledgebaseId: byId(id),
				toolOutput: 'selected',
				toolFields: 'recall.topK, colour',
			},
			{ items: [{ json: {} }, { json: {} }], isTool: true },
		);
		expect(column(result.items, 'recall')).toEqual([{ topK: 3 }, { topK: 3 }]);
		expect(hintsOf(result)).toEqual([expect.stringContaining('names: colour. It has: ')]);
	});

	it('is refused where no field is named', async () => {
		const { json } = await given({ ...getOne, toolOutput: 'selected', toolFields: ' ' });
		expect(JSON.stringify(json)).toContain('\\"Fields\\" must not be empty');
	});

	it('is refused before anything is sent', async () => {
		const { store } = fixture.sandbox;
		const before = store.knowledgebases.size;
		const create = { resource: 'knowledgebase', operation: 'create', name: 'Not made' };
		const { json } = await given({ ...create, toolOutput: 'selected', toolFields: ' ' });
		expect(JSON.stringify(json)).toContain('\\"Fields\\" must not be empty');
		expect(store.knowledgebases.size).toBe(before);
	});

	it('has no choice in a workflow', async () => {
		const { json } = await given({ ...getOne, toolOutput: 'raw', simplify: true }, false);
		expect(json).toEqual((await given({ ...getOne, simplify: true }, false)).json);
	});

	it('is chosen for an answer of an assistant as well', async () => {
		const thread = await newThread();
		const { items } = await fixture.run(
			ask({ toolOutput: 'selected', toolFields: 'content, threadId' }),
			{ items: [says(thread, 'Hello')], isTool: true },
		);
		expect(items[0]?.json).toEqual({ content: 'Echo: Hello', threadId: thread });
	});

	it('has the fields that were selected of a failure as well, beside what tells it', async () => {
		const { items } = await fixture.run(
			ask({
				toolOutput: 'selected',
				toolFields: 'content, runId',
				assistantId: byId(BROKEN_ASSISTANT_ID),
			}),
			{ items: [says(await newThread(), 'Hello')], isTool: true },
		);
		expect(Object.keys(items[0]?.json ?? {}).sort()).toEqual(['output', 'runId', 'status']);
	});

	it('may be selected by the name that it has where it is simplified', async () => {
		const result = await fixture.run(
			ask({ toolOutput: 'selected', toolFields: 'output, threadId' }),
			{ items: [says(await newThread(), 'Hello')], isTool: true },
		);
		expect(column(result.items, 'output')).toEqual(['Echo: Hello']);
		expect(hintsOf(result)).toEqual([]);
	});
});
