import type { IDataObject } from 'n8n-workflow';

import { recordedBody } from '../../threads/support/recorded';
import { get } from 'nodes/XpertAi/operations/thread/get';

const simplified = (answer: IDataObject) =>
	typeof get.simplify === 'function' ? get.simplify(answer) : undefined;

const threadWith = (...messages: IDataObject[]): IDataObject => ({
	thread_id: 't-1',
	status: 'idle',
	values: { messages },
	metadata: {},
});

describe('a thread with Simplify', () => {
	it('has its status and its last message', () => {
		const question = { content: 'Hello' };
		const answer = { tool_calls: [], content: [{ type: 'text', text: 'Good ' }, 'day'] };
		expect(simplified(threadWith(question, answer))).toEqual({
			threadId: 't-1',
			conversationId: null,
			status: 'idle',
			lastMessage: 'Good day',
			lastMessageFrom: 'assistant',
			messages: 2,
		});
	});

	it('says it of a recorded one, whose messages name no kind', () => {
		const recorded = recordedBody('interrupts', 'thread after confirm') as IDataObject;
		expect(simplified(recorded)).toMatchObject({
			conversationId: expect.stringMatching(/^[0-9a-f-]{36}$/),
			status: 'idle',
			lastMessage: 'Tool said: Tool said: []',
			lastMessageFrom: 'assistant',
			messages: 4,
		});
	});

	it('may have no message yet', () => {
		expect(simplified({ thread_id: 't-1', status: 'idle', values: null })).toEqual({
			threadId: 't-1',
			conversationId: null,
			status: 'idle',
			lastMessage: null,
			lastMessageFrom: null,
			messages: 0,
		});
	});
});
