import { WORKSPACE_ID } from '../../sandbox';
import { clientFor } from './support/client';
import { useSandbox } from './support/useSandbox';

const KEYS = { plain: 'key-of-a-user', assistant: 'key-of-an-assistant' } as const;
const { sandbox, client } = useSandbox({
	tokens: [
		{ token: KEYS.plain, kind: 'plain' },
		{ token: KEYS.assistant, kind: 'assistant' },
	],
});

/** A new knowledgebase of a workspace: what storing a document in it answers to a key. */
function empty() {
	const { id } = sandbox.store.putKnowledgebase({ name: 'New', workspaceId: WORKSPACE_ID });
	return async (kind: keyof typeof KEYS | 'workspace') => {
		const { url } = sandbox;
		const by = kind === 'workspace' ? client : clientFor({ url, accessToken: KEYS[kind] });
		return await by.post<unknown>(`/api/ai/knowledges/${id}/bulk`, [{ name: 'first' }]);
	};
}

// Recorded in `folder-rows-keys`: a row of any kind, a folder or a file.
describe('the first document of a knowledgebase of a workspace', () => {
	it('is not taken from the key of the workspace, however often it comes', async () => {
		const store = empty();
		for (let tries = 0; tries < 2; tries++) {
			const { status, data } = await store('workspace');
			expect([status, data]).toEqual([
				403,
				{ message: 'Access denied to workspace', error: 'Forbidden', statusCode: 403 },
			]);
		}
	});

	it.each(['plain', 'assistant'] as const)(
		'is taken from another key (%s), and those after it from the key of the workspace',
		async (kind) => {
			const store = empty();
			expect((await store(kind)).status).toBe(201);
			expect((await store('workspace')).status).toBe(201);
		},
	);
});
