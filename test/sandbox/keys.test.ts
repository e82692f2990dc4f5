import { COPILOT_ID, ECHO_ASSISTANT_ID, WORKSPACE_ID, type TokenKind } from '../../sandbox';
import { clientFor, newThread, runOn, upload } from './support/client';
import { useSandbox } from './support/useSandbox';

const KINDS = ['plain', 'assistant', 'workspace'] as const;

const { sandbox, client } = useSandbox({
	tokens: KINDS.map((kind) => ({ token: kind, kind, assistantId: ECHO_ASSISTANT_ID })),
});

const withKey = (kind: TokenKind) => clientFor(sandbox, kind);

describe.each<[kind: (typeof KINDS)[number], run: number, create: number, update: number]>([
	['plain', 403, 201, 200],
	['assistant', 201, 201, 200],
	['workspace', 201, 403, 403],
])('a key of kind %s', (kind, run, create, update) => {
	it(`answers a run with ${run}`, async () => {
		const thread = await newThread(client);
		expect((await runOn(withKey(kind), thread, 'hello', ECHO_ASSISTANT_ID)).status).toBe(run);
	});

	it(`answers the creation of a knowledgebase in a workspace with ${create}, elsewhere with 201`, async () => {
		const post = async (fields: object) =>
			(await withKey(kind).post('/api/ai/knowledges', fields)).status;
		expect(await post({ name: 'inside', workspaceId: WORKSPACE_ID })).toBe(create);
		expect(await post({ name: 'outside' })).toBe(201);
	});

	it(`answers the update of a knowledgebase in a workspace with ${update}, elsewhere with 200`, async () => {
		const put = async (fields: { name: string; workspaceId?: string }) => {
			const { id } = sandbox.store.putKnowledgebase(fields);
			return (await withKey(kind).put(`/api/ai/knowledges/${id}`, { description: 'x' })).status;
		};
		expect(await put({ name: 'inside', workspaceId: WORKSPACE_ID })).toBe(update);
		expect(await put({ name: 'outside' })).toBe(200);
	});
});

describe('deleting an uploaded file', () => {
	const remove = (kind: TokenKind, id: string) =>
		withKey(kind).delete<unknown>(`/api/ai/contexts/file/${id}`);

	it('is for the key of a user, once', async () => {
		const { id, url } = await upload(client, 'hello');
		const { status, data } = await remove('plain', id);
		expect(status).toBe(200);
		expect(data).toMatchObject({ originalName: 'a.txt', fileUrl: url });
		expect((await fetch(url)).status).toBe(404);
		expect((await remove('plain', id)).status).toBe(403);
	});

	it('is not for the key of a workspace', async () => {
		const { id, url } = await upload(client, 'hello');
		const { status, data } = await remove('workspace', id);
		expect([status, data]).toEqual([403, { message: 'Forbidden', statusCode: 403 }]);
		expect((await fetch(url)).status).toBe(200);
	});
});

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
