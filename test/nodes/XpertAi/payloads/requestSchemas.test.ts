import {
	conversationRecordSchema,
	ratingBody,
	runBodySchemas,
} from 'nodes/XpertAi/payloads/requestSchemas';

const send = (input: unknown, more = {}) => ({ action: 'send', message: { input }, ...more });
const withInput = (input: unknown) => ({ assistant_id: 'a', input });

describe('the body of E4', () => {
	it.each([
		['a message', 'message', withInput(send({ input: 'Hi' }))],
		[
			'a message with files',
			'message',
			withInput(send({ input: 'Hi', files: [{ id: 'f' }, { fileId: 'g' }] })),
		],
		[
			'a message with state and environment',
			'message',
			withInput(send({ input: 'Hi' }, { state: { a: 1 }, environmentId: 'e' })),
		],
		[
			'a message with a context',
			'message',
			{ ...withInput(send({ input: 'Hi' })), context: { user: 'u' } },
		],
		[
			'a decision',
			'decision',
			withInput({ action: 'resume', target: {}, decision: { type: 'confirm' } }),
		],
		[
			'a decision with target and payload',
			'decision',
			withInput({ action: 'resume', target: { a: 1 }, decision: { type: 'reject', payload: [1] } }),
		],
		['a retry', 'retry', withInput({ action: 'retry', source: {} })],
	] as const)('is taken as %s', (_, kind, body) => {
		expect(runBodySchemas[kind].parse(body)).toEqual(body);
	});

	it.each([
		['a message without an assistant', 'message', { input: send({ input: 'Hi' }) }],
		['an empty message', 'message', withInput(send({ input: '' }))],
		['a message that is a number', 'message', withInput(send({ input: 5 }))],
		['a file without an ID', 'message', withInput(send({ input: 'Hi', files: [{ id: '' }] }))],
		['a file that is a text', 'message', withInput(send({ input: 'Hi', files: ['f'] }))],
		['a state that is a text', 'message', withInput(send({ input: 'Hi' }, { state: 'a' }))],
		[
			'a context that is a text',
			'message',
			{ ...withInput(send({ input: 'Hi' })), context: 'user' },
		],
		[
			'a target that is a list',
			'decision',
			withInput({ action: 'resume', target: [], decision: { type: 'confirm' } }),
		],
		[
			'another decision',
			'decision',
			withInput({ action: 'resume', target: {}, decision: { type: 'perhaps' } }),
		],
	] as const)('is not taken as %s', (_, kind, body) => {
		expect(runBodySchemas[kind].safeParse(body).success).toBe(false);
	});
});

describe('the body of a rating', () => {
	it('takes the two ratings, with a comment or without', () => {
		for (const body of [{ rating: 'like' }, { rating: 'dislike', content: 'Too long' }])
			expect(ratingBody.parse(body)).toEqual(body);
	});

	it.each([
		['no rating', {}, 'rating'],
		['a rating of another kind', { rating: 'LIKE' }, 'rating'],
		['a comment that is no text', { rating: 'like', content: 5 }, 'content'],
	])('refuses %s', (_what, body, path) => {
		const { issues = [] } = ratingBody.safeParse(body).error ?? {};
		expect(issues.map((issue) => issue.path.join('.'))).toEqual([path]);
	});
});

describe('the record of a conversation', () => {
	it('has what the node reads, and why its last run failed as text', () => {
		const record = { id: 'c', threadId: 't', status: 'error', createdAt: 'now' };
		const operation = { tasks: [{ id: 1 }] };
		expect(conversationRecordSchema.parse({ ...record, operation, error: 'No model' })).toEqual({
			...record,
			operation,
			error: 'No model',
		});
		expect(conversationRecordSchema.parse({ error: { code: 1 } }).error).toBe('{"code":1}');
	});

	it('lacks what is of another type', () => {
		const record = { id: 5, threadId: null, status: {}, createdAt: 1, error: '', operation: 'no' };
		expect(conversationRecordSchema.parse(record)).toEqual({ operation: null });
	});
});
