import get from 'lodash/get';

import {
	createConversation,
	openConversation,
	readConversation,
} from '../../../../nodes/XpertAi/runs/conversation';
import type { ApiRequest, Outcome } from '../../../../nodes/XpertAi/transport/request';
import { virtualTime } from '../../support/virtualTime';
import { recordedBody } from './support/recorded';

const failure = { kind: 'status' as const, status: 500, method: 'POST', path: '/api/ai/x' };
const lost = { kind: 'network' as const, code: 'ECONNRESET', method: 'POST', path: '/api/ai/x' };
const success = (answer: unknown): Outcome => ({ ok: true, status: 200, answer });
const no = (why: Extract<Outcome, { ok: false }>['failure']): Outcome => ({
	ok: false,
	failure: why,
});

/** A server that gives these answers one after another, the last for ever. */
function answering(...outcomes: Outcome[]) {
	const asked: ApiRequest[] = [];
	const send = async (request: ApiRequest) => {
		asked.push(request);
		const outcome = outcomes[Math.min(asked.length, outcomes.length) - 1];
		if (!outcome) throw new Error('the test gives no answer');
		return outcome;
	};
	return { asking: { send, clock: virtualTime() }, asked };
}

/** The thread of the conversation that was recorded. */
const threadIn = (answer: unknown) => String(get(answer, 'items.0.threadId'));

const pathsOf = (asked: ApiRequest[]) => asked.map(({ path }) => path);

describe('looking up the conversation of a thread', () => {
	it('asks for the newest of the thread', async () => {
		const { asking, asked } = answering(success({ items: [], total: 0 }));
		await readConversation(asking, 't');
		expect(asked).toMatchObject([{ method: 'POST', path: '/conversations/search' }]);
		expect(JSON.parse(String(asked[0]?.body))).toEqual({
			where: { threadId: 't' },
			order: { updatedAt: 'DESC' },
			limit: 1,
		});
	});

	it.each([
		[{ items: [{ id: 'c', error: 'No model' }] }, { conversationId: 'c', error: 'No model' }],
		[{ items: [{ id: 'c', error: { code: 1 } }] }, { conversationId: 'c', error: '{"code":1}' }],
		[
			{ items: [{ id: 'c', error: null, status: 'busy' }] },
			{ conversationId: 'c', status: 'busy' },
		],
		[{ items: [{ error: '', operation: null }] }, {}],
		[{ items: [{ id: 5, status: {}, operation: { tasks: 'no' } }] }, {}],
		[
			{ items: [{ id: 'c', threadId: 't', status: 'idle' }] },
			{ conversationId: 'c', status: 'idle' },
		],
		[{ items: [{ id: 'c', threadId: 'of another', error: 'No model' }] }, {}],
		[{ items: [] }, {}],
	])('%j says %j', async (answer, facts) => {
		const read = await readConversation(answering(success(answer)).asking, 't');
		expect(read).toEqual({ tasks: [], ...facts });
	});

	it('says what a run waits for, as recorded', async () => {
		const answer = recordedBody('interrupts', 'conversation that waits');
		const { status, tasks } = await readConversation(
			answering(success(answer)).asking,
			threadIn(answer),
		);
		expect(status).toBe('interrupted');
		expect(tasks).toMatchObject([
			{
				call: { name: 'subagent', args: { input: 'USETOOL(sub)' } },
				type: 'agent',
				info: { title: 'SubAgent' },
				parameters: [{ name: 'input' }],
				agent: { name: 'LeadAgent' },
			},
		]);
	});

	it('says that a run was cancelled, as recorded', async () => {
		const answer = recordedBody('runs', 'conversation after the cancelled run');
		const read = await readConversation(answering(success(answer)).asking, threadIn(answer));
		expect(read).toMatchObject({
			status: 'interrupted',
			error: 'Canceled by user',
			tasks: [],
		});
	});

	it('is tried again, and says why nothing is known when it cannot be looked up', async () => {
		const { asking, asked } = answering(no(lost));
		expect(await readConversation(asking, 't')).toMatchObject({ failure: lost, tasks: [] });
		expect(asked).toHaveLength(3);
	});
});

describe('opening the conversation of a key', () => {
	const open = async (...outcomes: Outcome[]) => {
		const { asking, asked } = answering(...outcomes);
		return { opened: await openConversation(asking, 't', { title: 'Hi' }, 1000), asked };
	};

	it('takes the one that is there', async () => {
		const { opened, asked } = await open(success({ items: [{ id: 'c' }] }));
		expect(opened).toEqual({ threadId: 't', conversationId: 'c' });
		expect(pathsOf(asked)).toEqual(['/conversations/search']);
	});

	it('makes it on the thread of the key where there is none, and sends no id', async () => {
		const { opened, asked } = await open(
			success({ items: [] }),
			success({ id: 'c', threadId: 't' }),
		);
		expect(opened).toEqual({ threadId: 't', conversationId: 'c' });
		expect(JSON.parse(String(asked[1]?.body))).toEqual({ title: 'Hi', threadId: 't' });
	});

	it('makes none where it cannot be told whether there is one', async () => {
		const { opened, asked } = await open(no(failure));
		expect(opened).toMatchObject({ failure });
		expect(new Set(pathsOf(asked))).toEqual(new Set(['/conversations/search']));
		expect(asked[0]?.checkAnswer?.({ total: 0 })).toBe('it holds no list of results');
	});
});

describe('making a conversation', () => {
	const create = async (...outcomes: Outcome[]) => {
		const { asking, asked } = answering(...outcomes);
		return { made: await createConversation(asking, 't', { title: 'Hi' }, 1000), asked };
	};

	it('gives it the thread of our choice, and no id', async () => {
		const { made, asked } = await create(success({ id: 'c', threadId: 't' }));
		expect(made).toEqual({ threadId: 't', conversationId: 'c' });
		expect(asked.map(({ body }) => JSON.parse(String(body)) as unknown)).toEqual([
			{ title: 'Hi', threadId: 't' },
		]);
	});

	it('takes the thread the server gives instead', async () => {
		const { made } = await create(success({ id: 'c', threadId: 'other' }));
		expect(made).toEqual({ threadId: 'other', conversationId: 'c' });
	});

	it('looks for it before it asks again when the answer was lost', async () => {
		const { made, asked } = await create(no(lost), success({ items: [{ id: 'c' }] }));
		expect(made).toEqual({ threadId: 't', conversationId: 'c' });
		expect(pathsOf(asked)).toEqual(['/conversations', '/conversations/search']);
	});

	it('asks again when it was not made', async () => {
		const found = success({ id: 'c', threadId: 't' });
		const { made, asked } = await create(no(lost), success({ items: [] }), found);
		expect(made).toEqual({ threadId: 't', conversationId: 'c' });
		expect(pathsOf(asked)).toEqual(['/conversations', '/conversations/search', '/conversations']);
	});

	it('does not ask again when it cannot be told whether it was made', async () => {
		const { made, asked } = await create(no(lost), no(failure));
		expect(made).toMatchObject({ failure: { code: 'ECONNRESET' } });
		expect(pathsOf(asked)).toEqual(['/conversations', '/conversations/search']);
	});

	it('takes the word of a server that says no', async () => {
		const { made, asked } = await create(no({ ...failure, status: 403 }));
		expect(made).toMatchObject({ failure: { status: 403 } });
		expect(asked).toHaveLength(1);
	});
});
