import { COPILOT_ID } from '../../sandbox';
import { useSandbox } from './support/useSandbox';

const { sandbox, client } = useSandbox();

describe('the embedding model of a knowledgebase', () => {
	const copilotModel = { copilotId: COPILOT_ID, modelType: 'text-embedding', model: 'm' };

	it('is given when it is created or later', async () => {
		const { data: made } = await client.post<{ id: string; copilotModelId: string | null }>(
			'/api/ai/knowledges',
			{ name: 'with', copilotModel },
		);
		expect(made.copilotModelId).toEqual(expect.any(String));
		const { id } = sandbox.store.putKnowledgebase({ name: 'without' });
		const { status } = await client.put(`/api/ai/knowledges/${id}`, { copilotModel });
		expect(status).toBe(200);
		expect(sandbox.store.knowledgebases.get(id)?.copilotModelId).toEqual(expect.any(String));
	});

	it.each(['copilotModel', 'copilotModelId'])('cannot be taken away: %s', async (field) => {
		const { id } = sandbox.store.putKnowledgebase({ name: 'with' });
		const { status } = await client.put(`/api/ai/knowledges/${id}`, { [field]: null });
		expect(status).toBe(400);
	});
});
