import { readConversation, readThread } from '../../../../nodes/XpertAi/runs/thread';
import type { ApiRequest, Outcome } from '../../../../nodes/XpertAi/transport/request';

const failure = { kind: 'status' as const, status: 500, method: 'GET', path: '/api/ai/threads/t' };

/** A server that answers this, and what it was asked. */
function answering(outcome: Outcome) {
	const asked: ApiRequest[] = [];
	const send = async (request: ApiRequest) => {
		asked.push(request);
		return outcome;
	};
	return { send, asked };
}

const success = (answer: unknown): Outcome => ({ ok: true, status: 200, answer });

describe('reading a thread', () => {
	it('asks for it by its id, as one segment of the path', async () => {
		const { send, asked } = answering(success({}));
		await readThread(send, 'a/b ü');
		expect(asked).toMatchObject([{ method: 'GET', path: '/threads/a%2Fb%20%C3%BC' }]);
	});

	it('gives its state, with what newer servers add', async () => {
		const state = { status: 'idle', values: { messages: [], more: 1 }, interrupts: {}, new: true };
		expect(await readThread(answering(success(state)).send, 't')).toEqual({ state });
	});

	it('gives no state for an answer that is none', async () => {
		for (const answer of ['text', [], { status: 5 }, { values: { messages: 'no' } }, undefined]) {
			expect(await readThread(answering(success(answer)).send, 't')).toEqual({ state: {} });
		}
	});

	it('says why it could not be read', async () => {
		expect(await readThread(answering({ ok: false, failure }).send, 't')).toEqual({ failure });
	});
});

describe('looking up the conversation of a thread', () => {
	it('asks for the one of the thread', async () => {
		const { send, asked } = answering(success({ items: [], total: 0 }));
		await readConversation(send, 't');
		expect(asked).toMatchObject([{ method: 'POST', path: '/conversations/search' }]);
		expect(JSON.parse(String(asked[0]?.body))).toEqual({ where: { threadId: 't' }, limit: 1 });
	});

	it.each([
		[{ items: [{ id: 'c', error: 'No model' }] }, { conversationId: 'c', error: 'No model' }],
		[{ items: [{ id: 'c', error: { code: 1 } }] }, { conversationId: 'c', error: '{"code":1}' }],
		[{ items: [{ id: 'c', error: null }] }, { conversationId: 'c' }],
		[{ items: [{ error: '' }] }, {}],
		[{ items: [] }, {}],
		[{ items: 'no' }, {}],
		[[], {}],
		[undefined, {}],
	])('%j says %j', async (answer, facts) => {
		expect(await readConversation(answering(success(answer)).send, 't')).toEqual(facts);
	});

	it('says nothing when it cannot be looked up, as on LangGraph servers', async () => {
		expect(await readConversation(answering({ ok: false, failure }).send, 't')).toEqual({});
	});
});
