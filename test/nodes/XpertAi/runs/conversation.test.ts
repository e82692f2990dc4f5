import get from 'lodash/get';

import {
	createConversation,
	openConversation,
	readConversation,
} from '../../../../nodes/XpertAi/runs/conversation';
import type { ApiRequest, Outcome } from '../../../../nodes/XpertAi/transport/request';
import { virtualTime } from '../../support/virtualTime';
import { checked } from './support/faults';
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
		return checked(request, outcome);
	};
	return { asking: { send, clock: virtualTime() }, asked };
}

/** The thread of the conversation that was recorded. */
const threadIn = (answer: unknown) => String(get(answer, 'items.0.threadId'));

const pathsOf = (asked: ApiRequest[]) => asked.map(({ path }) => path);

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
		expect(read).toEqual({ tasks: [], ...facts });
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

const mine = (id: string, createdAt?: string, threadId = 't') => ({ id, threadId, createdAt });
const listed = (...items: object[]) => success({ items, total: items.length });
const noThread = no(failure);
const thread = success({ status: 'idle', values: { messages: [{ content: 'a secret' }] } });

describe('several conversations on one thread', () => {
	it('count as the oldest, so that all executions agree; how it stands says the one that changed last', async () => {
		const items = [
			{ ...mine('b', '2026-11-22T15:42:13.689Z'), status: 'idle' },
			{ ...mine('d', '2026-11-22T15:42:04.047Z'), status: 'error' },
			{ ...mine('c', '2026-11-22T15:42:04.047Z'), status: 'busy' },
		];
		const read = await readConversation(answering(listed(...items)).asking, 't');
		expect(read).toMatchObject({ conversationId: 'c', status: 'idle' });
	});
});

describe('opening the conversation of a key', () => {
	const open = async (...outcomes: Outcome[]) => {
		const { asking, asked } = answering(...outcomes);
		return { opened: await openConversation(asking, 't', { title: 'Hi' }, 1000), asked };
	};
	const threadsOf = (asked: ApiRequest[]) =>
		asked.flatMap(({ path, body }) =>
			path.startsWith('/threads/')
				? path.slice('/threads/'.length)
				: ((JSON.parse(String(body)) as { where?: { threadId: string } }).where?.threadId ?? []),
		);

	it('takes the one that is there', async () => {
		const { opened, asked } = await open(listed(mine('c')));
		expect(opened).toEqual({ threadId: 't', conversationId: 'c' });
		expect(pathsOf(asked)).toEqual(['/conversations/search']);
	});

	it('makes it where neither a conversation nor a thread is there, and sends no id', async () => {
		const { opened, asked } = await open(
			...[listed(), noThread, noThread, success(mine('c')), listed(mine('c'))],
		);
		expect(opened).toEqual({ threadId: 't', conversationId: 'c' });
		expect(pathsOf(asked)).toEqual([
			'/conversations/search',
			...['/threads/t', '/threads/t'],
			'/conversations',
			'/conversations/search',
		]);
		expect(JSON.parse(String(asked[3]?.body))).toEqual({ title: 'Hi', threadId: 't' });
	});

	it('looks again after making it, and takes the older one of the same owner', async () => {
		const [older, younger] = [
			mine('z', '2026-11-22T15:42:04.047Z'),
			mine('c', '2026-11-22T15:42:05.000Z'),
		];
		const made = [listed(), noThread, noThread, success(younger)];
		expect((await open(...made, listed(younger, older))).opened).toEqual({
			...{ threadId: 't', conversationId: 'z' },
		});
		expect((await open(...made, no(failure))).opened).toEqual({
			...{ threadId: 't', conversationId: 'c' },
		});
	});

	it('makes it on another thread where the thread is another person’s, the same one every time', async () => {
		const theirs = [listed(), thread];
		const { asked } = await open(...theirs, ...theirs, listed(), noThread, noThread, no(failure));
		const [first, , second, , third] = threadsOf(asked);
		expect(first).toBe('t');
		expect(new Set([first, second, third]).size).toBe(3);
		const again = await open(listed(), thread, listed(), thread, listed(mine('c', '', third)));
		expect(again.opened).toEqual({ threadId: third, conversationId: 'c' });
		expect(pathsOf(again.asked)).not.toContain('/conversations');
	});

	it('is none where each of twenty threads is somebody else’s', async () => {
		const taken = Array.from({ length: 30 }, () => [listed(), thread]).flat();
		const { opened, asked } = await open(...taken);
		expect(opened).toBeUndefined();
		expect(new Set(threadsOf(asked)).size).toBe(20);
	});

	it('is none while it cannot be told whether the thread is there: taken for nobody’s, it would be shared', async () => {
		const forbidden = no({ ...failure, status: 403 });
		for (const answers of [[forbidden], [no(lost)], [noThread, forbidden], [noThread, no(lost)]]) {
			const { opened, asked } = await open(listed(), ...answers);
			expect(opened).toHaveProperty('failure');
			expect(pathsOf(asked)).not.toContain('/conversations');
		}
		const passing = await open(listed(), noThread, thread, listed(), no(lost));
		expect(threadsOf(passing.asked)[3]).not.toBe('t');
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

	it.each([
		undefined,
		[],
		{},
		'OK',
		{ statusCode: 500 },
		{ id: 'c' },
		{ id: 'c', threadId: 'other' },
	])('is looked for where the success says something else: %j', async (answer) => {
		const { made, asked } = await create(success(answer), listed(mine('c')));
		expect(made).toEqual({ threadId: 't', conversationId: 'c' });
		expect(pathsOf(asked)).toEqual(['/conversations', '/conversations/search']);
	});

	it('looks for it before it asks again when the answer was lost', async () => {
		const { made, asked } = await create(no(lost), listed(mine('c')));
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
