import { NodeApiError, NodeOperationError } from 'n8n-workflow';
import type { INode } from 'n8n-workflow';

import {
	NO_ANSWER,
	failureAsReply,
	forChat,
	waitingMessage,
} from '../../../../nodes/XpertAi/execution/outputFor';

const node = { name: 'Ask' } as INode;

it.each([
	new NodeOperationError(node, 'No', { description: 'for the builder' }),
	new NodeApiError(node, {}, { message: 'No', description: 'for the builder' }),
])('visitors of a chat do not read the description of an error: $name', (error) => {
	expect(forChat(error)).toBe(error);
	expect([error.description, error.messages.at(-1)]).toEqual([NO_ANSWER, 'for the builder']);
});

it('an error of another kind is thrown on as it is', () => {
	const error = new Error('broken');
	expect(forChat(error)).toBe(error);
	expect(error).not.toHaveProperty('description');
});

it.each([
	[undefined, 'This waits for a person to decide.'],
	[[{ name: 'mail' }, { name: 'pay' }], 'This waits for a person to decide: mail, pay.'],
	[
		[{ name: 'mail', info: { title: 'Mail', description: 'Send a mail' } }],
		'This waits for a person to decide: Mail (Send a mail).',
	],
	[[null], 'This waits for a person to decide.'],
])('the tasks %j are named in words', (tasks, words) => {
	expect(waitingMessage(tasks)).toBe(words);
});

it('a failure as a reply names no ID in its words, and those of its run beside them', () => {
	const id = '2f78e81b-096f-42ff-8ac0-8403fd81392d';
	const error = new NodeOperationError(node, `The run ${id} of ${id} failed`);
	error.context.data = { threadId: 't', runId: 'r', verdict: 'timeout', other: 1 };
	const output = 'The run … of … failed';
	expect(failureAsReply(error)).toEqual({ output, threadId: 't', runId: 'r', status: 'timeout' });
	error.context.data = undefined;
	expect(failureAsReply(error)).toEqual({ output, status: 'failed' });
});
