import get from 'lodash/get';

import { readConversation } from '../../../../nodes/XpertAi/threads/thread';
import { answering, listed, lost, mine, no, success } from './support/answering';
import { recordedBody } from './support/recorded';

/** The thread of the conversation that was recorded. */
const threadIn = (answer: unknown) => String(get(answer, 'items.0.threadId'));

describe('looking up the conversation of a thread', () => {
	it('asks for all of the thread, the one that changed last first', async () => {
		const { asking, asked } = answering(success({ items: [], total: 0 }));
		await readConversation(asking, 't');
		expect(asked).toMatchObject([{ method: 'POST', path: '/conversations/search' }]);
		expect(JSON.parse(String(asked[0]?.body))).toEqual({
			where: { threadId: 't' },
			order: { updatedAt: 'DESC' },
		});
	});

	it.each([
		[
			{ items: [{ id: 'c', threadId: 't', error: 'No model' }] },
			{ conversationId: 'c', error: 'No model' },
		],
		[
			{ items: [{ id: 'c', threadId: 't', error: { code: 1 } }] },
			{ conversationId: 'c', error: '{"code":1}' },
		],
		[
			{ items: [{ id: 'c', threadId: 't', error: null, status: 'busy' }] },
			{ conversationId: 'c', status: 'busy' },
		],
		[{ items: [{ threadId: 't', error: '', operation: null }] }, {}],
		[{ items: [{ id: 5, threadId: 't', status: {}, operation: { tasks: 'no' } }] }, {}],
		[{ items: [{ id: 'c', error: 'of a record without a thread' }] }, {}],
		[
			{ items: [{ id: 'c', threadId: 't', status: 'idle' }] },
			{ conversationId: 'c', status: 'idle' },
		],
		[{ items: [{ id: 'c', threadId: 'of another', error: 'No model' }] }, {}],
		[{ items: [] }, {}],
	])('%j says %j', async (answer, facts) => {
		const read = await readConversation(answering(success(answer)).asking, 't');
		const conversationIds = 'conversationId' in facts ? [facts.conversationId] : [];
		const unused = 'status' in facts ? [] : conversationIds;
		expect(read).toEqual({ tasks: [], ...facts, conversationIds, unused });
	});

	it.each([[], {}, 'OK', undefined, { total: 0 }, { items: null }])(
		'is tried again where the success says something else: %j',
		async (answer) => {
			const { asking, asked } = answering(success(answer), listed(mine('c')));
			expect(await readConversation(asking, 't')).toMatchObject({ conversationId: 'c' });
			expect(asked).toHaveLength(2);
		},
	);

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

describe('several conversations on one thread', () => {
	it('count as the oldest, so that all executions agree; how it stands says the one that changed last', async () => {
		const items = [
			{ ...mine('b', '2026-11-22T15:42:13.689Z'), status: 'idle' },
			{ ...mine('d', '2026-11-22T15:42:04.047Z'), status: 'error' },
			{ ...mine('c', '2026-11-22T15:42:04.047Z'), status: 'busy' },
		];
		const read = await readConversation(answering(listed(...items)).asking, 't');
		expect(read).toMatchObject({ conversationId: 'c', status: 'idle' });
		expect(read.conversationIds).toEqual(['b', 'd', 'c']);
	});
});
