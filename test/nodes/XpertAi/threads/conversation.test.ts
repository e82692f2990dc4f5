import { get } from 'lodash';
import {
	createConversation,
	findAnswer,
	readThreadConversation,
} from 'nodes/XpertAi/threads/conversation';
import { learnOwner, type Owner, ownerOf, confirmOwner } from 'nodes/XpertAi/threads/tokenOwner';
import {
	fieldOfEachTask,
	waitingTaskFacts,
	waitingMessage,
	waitsForPerson,
} from 'nodes/XpertAi/threads/tasks';
import type { Failure } from 'nodes/XpertAi/transport/failure';
import type { RequestOutcome } from 'nodes/XpertAi/transport/request';

import { no, success } from '../../support/send';
import { answering, bodiesOf, failure, listed, lost, mine } from './support/answering';
import { recordedBody, recordedExchanges } from './support/recorded';

const pathsOf = (asked: Array<{ path: string }>) => asked.map(({ path }) => path);

describe('readConversation', () => {
	it('asks for all conversations of the thread, the last updated first', async () => {
		const { asking, asked } = answering(listed());
		await readThreadConversation(asking, 't');
		expect(asked).toMatchObject([{ method: 'POST', path: '/conversations/search' }]);
		expect(bodiesOf(asked)).toEqual([{ where: { threadId: 't' }, order: { updatedAt: 'DESC' } }]);
	});

	it.each([
		['an error', { id: 'c', error: 'No model' }, { error: 'No model' }],
		['an error that is an object', { id: 'c', error: { code: 1 } }, { error: '{"code":1}' }],
		['a status without an error', { id: 'c', error: null, status: 'busy' }, { status: 'busy' }],
		['nothing of empty fields', { id: 'c', error: '', operation: null }, {}],
		['nothing of fields of another type', { id: 'c', status: {}, operation: { tasks: 'no' } }, {}],
	])('reads %s', async (_, item, facts) => {
		const { asking } = answering(listed({ threadId: 't', ...item }));
		const ids = { conversationId: 'c', conversationIds: ['c'] };
		const nothing = { tasks: [], hasOnlyLeftOverTasks: false };
		expect(await readThreadConversation(asking, 't')).toEqual({ ...nothing, ...ids, ...facts });
	});

	it.each([
		['an ID that is a number', { id: 5, threadId: 't' }],
		['another thread', { threadId: 'another', id: 'c' }],
		['a record without a thread', { id: 'c' }],
		['null', null],
		['a number', 7],
	])('finds no conversation in %s, and one beside it', async (_, item) => {
		const one = await readThreadConversation(answering(success({ items: [item] })).asking, 't');
		expect(one).toMatchObject({ conversationIds: [], tasks: [] });
		expect(one.conversationId).toBeFalsy();
		const { asking } = answering(success({ items: [item, mine('d')] }));
		expect(await readThreadConversation(asking, 't')).toMatchObject({ conversationIds: ['d'] });
	});

	it.each([
		['a list', []],
		['an empty object', {}],
		['a word', 'OK'],
		['nothing', undefined],
		['a count alone', { total: 0 }],
		['no list of items', { items: null }],
	])('is tried again after %s', async (_, answer) => {
		const { asking, asked } = answering(success(answer), listed(mine('c')));
		expect(await readThreadConversation(asking, 't')).toMatchObject({ conversationId: 'c' });
		expect(asked).toHaveLength(2);
	});

	it('says why nothing is known', async () => {
		const { asking, asked } = answering(no(lost));
		const unread = { failure: lost, conversationIds: [], tasks: [] };
		expect(await readThreadConversation(asking, 't')).toMatchObject(unread);
		expect(asked).toHaveLength(3);
	});

	it('takes the oldest of several on a thread, and the status of the newest that ran', async () => {
		const items = [
			mine('a', '2026-11-22T15:42:14.000Z'),
			{ ...mine('b', '2026-11-22T15:42:13.689Z'), status: 'idle' },
			{ ...mine('d', '2026-11-22T15:42:04.047Z'), status: 'error' },
			{ ...mine('c', '2026-11-22T15:42:04.047Z'), status: 'busy' },
		];
		const read = await readThreadConversation(answering(listed(...items)).asking, 't');
		expect(read).toMatchObject({ conversationId: 'c', status: 'idle' });
		expect(read.conversationIds).toEqual(['a', 'b', 'd', 'c']);
	});

	it('reads a cancelled run (recorded)', async () => {
		const answer = recordedBody('runs', 'conversation after the cancelled run');
		const threadId = String(get(answer, 'items.0.threadId'));
		const read = await readThreadConversation(answering(success(answer)).asking, threadId);
		const cancelled = { status: 'interrupted', error: 'Canceled by user', tasks: [] };
		expect(read).toMatchObject(cancelled);
	});
});

/** The tasks in the answers of a recording, each kind once. */
function recordedTasks(sequence: Parameters<typeof recordedExchanges>[0]) {
	const bodies = recordedExchanges(sequence).map(({ response }) => response.body);
	return bodies.flatMap((body) => {
		const tasks: unknown = get(body, 'items.0.operation.tasks');
		return Array.isArray(tasks) && get(body, 'items.length') === 1 ? [tasks as unknown[]] : [];
	});
}

describe('waitingTaskFacts', () => {
	it('keeps tasks that wait, with and without their call (recorded)', () => {
		const recorded = recordedTasks('decisions');
		const calls = new Set(recorded.flatMap((tasks) => fieldOfEachTask('call.id', tasks)));
		expect(calls).toContain(undefined);
		expect(calls.size).toBeGreaterThan(2);
		for (const tasks of recorded)
			expect(waitingTaskFacts(tasks)).toEqual({ tasks, hasOnlyLeftOverTasks: false });
	});

	it('drops the task that a cancelled run leaves over (recorded)', () => {
		const [tasks = []] = recordedTasks('one-key-cancel-ends-both');
		expect(fieldOfEachTask('name', tasks)).toEqual(['__start__']);
		expect(waitingTaskFacts(tasks)).toEqual({ tasks: [], hasOnlyLeftOverTasks: true });
		const open = { name: 'mail', path: ['__pregel_push', 0] };
		expect(waitingTaskFacts([...tasks, open])).toEqual({
			tasks: [open],
			hasOnlyLeftOverTasks: false,
		});
	});

	it('has none without tasks', () =>
		expect(waitingTaskFacts(undefined)).toEqual({ tasks: [], hasOnlyLeftOverTasks: false }));

	it.each([
		['tasks wait for a person', [{}], undefined, true],
		['tasks with an error that is null wait for a person', [{}], null, true],
		['tasks with an error wait for nobody', [{}], 'Canceled', false],
		['no tasks wait for nobody', [], undefined, false],
	])('%s', (_, tasks, error, waits) => {
		expect(waitsForPerson({ tasks, error })).toBe(waits);
	});
});

describe('createConversation', () => {
	const NEW = { threadId: 't', title: 'Hi' };

	it.each<[string, object, number]>([
		['once without an ID', NEW, 1],
		['again with an ID', { ...NEW, id: 'c', createdById: 'u' }, 3],
	])('is sent %s when its answer is lost', async (_, conversation, times) => {
		const { asking, asked } = answering(no(lost));
		const created = await createConversation(asking, conversation as typeof NEW);
		expect(created).toMatchObject({ ok: false, mayBeDone: true });
		expect(bodiesOf(asked)).toEqual(Array.from({ length: times }, () => conversation));
	});

	it.each([
		['nothing', undefined],
		['a list', []],
		['an empty object', {}],
		['a word', 'OK'],
		['one without a thread', { id: 'c' }],
		['one with an empty ID', { id: '', threadId: 't' }],
		['one with another thread', { id: 'c', threadId: 'other' }],
	])('does not take %s', async (_, answer) => {
		const created = await createConversation(answering(success(answer)).asking, NEW);
		expect(created).toMatchObject({ failure: { kind: 'unreadable' }, mayBeDone: true });
	});
});

const status = (code: number, missing?: Failure['missing']): RequestOutcome =>
	no({ ...failure, status: code, missing });
const [ROUTE, PROXY, FORBIDDEN] = [status(404, 'route'), status(404), status(403)];
const ME = success({ id: 'u', hash: 'secret' });
const SEARCH = '/conversations/search';

describe('learnOwner', () => {
	/** `undefined` where the server did not say; the requests after the first for the owner. */
	it.each<[string, RequestOutcome[], Owner['id'], string[]]>([
		['takes the ID', [ME], 'u', []],
		['knows nobody after 404 Cannot GET twice', [ROUTE, ROUTE], null, ['/user/me']],
		['asks again after 404 Cannot GET once', [ROUTE, ME], 'u', ['/user/me']],
		['does not take the 404 of a proxy', [PROXY], undefined, ['/user/me', '/user/me']],
		['knows nobody after 405', [status(405)], null, []],
		['knows nobody after 501', [status(501)], null, []],
		['does not take a 500', [status(500)], undefined, []],
		['does not take a 503', [status(503)], undefined, ['/user/me', '/user/me']],
		['does not take silence', [no(lost)], undefined, ['/user/me', '/user/me']],
		['does not take another answer', [success({})], undefined, ['/user/me', '/user/me']],
		['does not take an empty ID', [success({ id: '' })], undefined, ['/user/me', '/user/me']],
		['knows nobody after 403 where E5 answers', [FORBIDDEN, listed()], null, [SEARCH]],
		['knows nobody after 401 where E5 answers', [status(401), listed()], null, [SEARCH]],
		['does not take a 403 without E5', [FORBIDDEN, FORBIDDEN], undefined, [SEARCH]],
		['does not take a 401 without E5', [status(401), status(401)], undefined, [SEARCH]],
	])('%s', async (_, outcomes, id, more) => {
		const { asking, asked } = answering(...outcomes);
		const owner: Owner = {};
		const unread = await learnOwner(asking, owner);
		expect([owner, unread === undefined]).toEqual([
			{ ...(id !== undefined && { id }) },
			id !== undefined,
		]);
		expect(pathsOf(asked)).toEqual(['/user/me', ...more]);
		expect(asked[0]).toMatchObject({ method: 'GET', apiRoot: '/api' });
	});

	it('reads the recorded answer', async () => {
		const owner: Owner = {};
		await learnOwner(
			answering(success(recordedBody('conversation-by-id', 'me, key of a user'))).asking,
			owner,
		);
		expect(owner).toEqual({ id: '4647f122-fc5a-4053-aba3-5b79526a6253' });
	});
});

describe('confirmOwner', () => {
	const shown = listed(mine('c'));
	const proven = { id: 'u', isConfirmed: true };

	it.each<[string, RequestOutcome[], Owner]>([
		['a conversation that is shown proves the owner', [shown], proven],
		['one that is shown a moment later, too', [listed(), shown], proven],
		['one that is not shown leaves none', [listed()], { id: null }],
		['a failure says nothing', [no(lost)], { id: 'u' }],
	])('%s', async (_, outcomes, expected) => {
		const owner: Owner = { id: 'u' };
		await confirmOwner(answering(...outcomes).asking, owner, 't');
		expect(owner).toEqual(expected);
	});

	it('asks once', async () => {
		const { asking, asked } = answering(listed());
		expect(await confirmOwner(asking, { id: 'u', isConfirmed: true }, 't')).toEqual({});
		expect(asked).toEqual([]);
	});
});

it('ownerOf keeps the owners of the last thousand accounts', () => {
	const first = ownerOf('account 0');
	first.id = 'u';
	for (let n = 1; n < 1_000; n++) ownerOf(`account ${n}`);
	expect(ownerOf('account 0')).toBe(first);
	ownerOf('account 1000');
	expect(ownerOf('account 1')).toEqual({});
	expect(ownerOf('account 0')).not.toBe(first);
});

describe('messages of a conversation', () => {
	const answer = { role: 'ai', content: 'Hi' };

	it('are asked for again where the answer is lost; a malformed one does not hide the others', async () => {
		const { asking, asked } = answering(no(lost), success({ items: [null, { role: 1 }, answer] }));
		const found = await findAnswer(asking, { conversationIds: ['c/d'] }, 'r');
		expect(found).toMatchObject({ message: answer });
		expect(asked).toHaveLength(2);
		expect(asked[1]).toMatchObject({ path: '/conversations/c%2Fd/messages/search' });
		expect(bodiesOf(asked)[1]).toEqual({ where: { executionId: 'r' } });
	});

	it('findAnswer takes the last answer, from whichever conversation has one', async () => {
		const human = { role: 'human', content: 'Hello' };
		const last = { ...answer, content: 'last' };
		const { asking, asked } = answering(listed(human), listed(answer, last, human));
		const found = await findAnswer(asking, { conversationIds: ['c', 'd', 'e'] }, 'r');
		expect(found).toEqual({ message: last, failure: undefined });
		expect(bodiesOf(asked)[0]).toEqual({ where: { executionId: 'r' } });
		expect(asked).toHaveLength(2);
		expect(await findAnswer(asking, { conversationIds: [] }, 'r')).toEqual({});
		const unread = await findAnswer(
			answering(no(failure)).asking,
			{ conversationIds: ['c', 'd'] },
			'r',
		);
		expect(unread).toMatchObject({ failure, message: undefined });
	});
});

it.each([
	['no tasks', undefined, 'This waits for a person to decide.'],
	[
		'tasks with a name',
		[{ name: 'mail' }, { name: 'pay' }],
		'This waits for a person to decide: mail, pay.',
	],
	[
		'a task with title and description',
		[{ name: 'mail', info: { title: 'Mail', description: 'Send a mail' } }],
		'This waits for a person to decide: Mail (Send a mail).',
	],
	['a task that is null', [null], 'This waits for a person to decide.'],
])('%s are named in words', (_, tasks, words) => {
	expect(waitingMessage(tasks)).toBe(words);
});
