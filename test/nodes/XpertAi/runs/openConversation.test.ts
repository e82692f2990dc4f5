import { withDeadline } from 'nodes/XpertAi/runs/client';
import { openConversationByKey, openNewConversation } from 'nodes/XpertAi/runs/openConversation';
import type { Owner } from 'nodes/XpertAi/threads/tokenOwner';
import type { ApiRequest, RequestOutcome } from 'nodes/XpertAi/transport/request';

import { no, success } from '../../support/send';
import {
	type Answer,
	answering,
	bodiesOf,
	failure,
	listed,
	lost,
} from '../threads/support/answering';
import { SECOND } from './support/run';

const namesOf = (asked: ApiRequest[]) =>
	asked.map(({ method, path }) => {
		if (path === '/conversations/search') return 'search';
		if (path === '/conversations') return 'create';
		return path.startsWith('/threads/') ? 'thread' : `${method} ${path}`;
	});

const read = ({ body }: ApiRequest) => JSON.parse(String(body)) as Record<string, string>;
/** E5 shows this conversation on the thread that is asked for. */
const shown = (request: ApiRequest) => {
	const { where } = read(request) as unknown as { where: { threadId: string } };
	return listed({ id: 'c', threadId: where.threadId });
};
/** E13 creates what it is asked for. */
const created = (request: ApiRequest) => success({ id: 'new', ...read(request) });
/** E15 shows the thread that is asked for. */
const there = ({ path }: ApiRequest) =>
	success({ thread_id: path.slice('/threads/'.length), status: 'idle' });
const status = (code: number): RequestOutcome => no({ ...failure, status: code });
const noThread = no(failure);
const refused = no({ ...failure, status: 400, reason: 'duplicate key' });

const KEY = { keyId: 'of the assistant and the key', title: 'Hi', credentialId: 'n8n' };

/** Opens the conversation of a key on a server that gives these answers. */
async function open(owner: Owner, ...answers: Answer[]) {
	const { asking, asked } = answering(...answers);
	const deadline = asking.clock.now() + 60 * SECOND;
	const opened = await openConversationByKey(withDeadline({ ...asking, deadline }), {
		...KEY,
		owner,
	});
	return { opened, asked, names: namesOf(asked), bodies: bodiesOf(asked), clock: asking.clock };
}

const FOUND = { conversationId: 'c' };
const MADE = { threadId: expect.any(String) as string };
const failedWith = (code: number) => ({ status: 'failed', failure: { status: code } });

describe('openConversationByKey with an owner', () => {
	const known = (): Owner => ({ id: 'u', isConfirmed: true });
	const fresh = (): Owner => ({ id: 'u' });
	const duplicate = { status: 'failed', failure: { reason: 'duplicate key' } };
	const PROVED = 'search create search';

	/** What is known of the owner, the answers, the requests, what comes of it, and what is known then. */
	it.each<[string, Owner, Answer[], string, object, Owner]>([
		['finds it', known(), [shown], 'search', FOUND, known()],
		['creates it, shown once', fresh(), [listed(), created, shown], PROVED, FOUND, known()],
		['creates more unseen', known(), [listed(), created], 'search create', MADE, known()],
		[
			'sends a creation again whose answer was lost',
			known(),
			[listed(), no(lost), created],
			'search create create',
			MADE,
			known(),
		],
		['takes what came meanwhile', known(), [listed(), refused, shown], PROVED, FOUND, known()],
		['tells a refusal', known(), [listed(), refused, listed()], PROVED, duplicate, known()],
		[
			'tells that the execution was stopped',
			known(),
			[no({ ...failure, kind: 'cancelled' })],
			'search',
			{ status: 'cancelled' },
			known(),
		],
		['tells a 403', known(), [listed(), status(403)], 'search create', failedWith(403), known()],
		['creates nothing while E5 fails', known(), [status(500)], 'search', failedWith(500), known()],
		[
			'needs the proof',
			fresh(),
			[listed(), created, status(500)],
			PROVED,
			failedWith(500),
			fresh(),
		],
		[
			'goes on without an owner where the creation is not shown',
			fresh(),
			[listed(), created, listed(), listed(), shown],
			`${PROVED} search search`,
			FOUND,
			{ id: null },
		],
		['asks for it', {}, [success({ id: 'u' }), shown], 'GET /user/me search', FOUND, fresh()],
	])('%s', async (_, owner, answers, names, result, after) => {
		const course = await open(owner, ...answers);
		expect(course.names.join(' ')).toBe(names);
		expect(course.opened).toMatchObject(result);
		expect(owner).toEqual(after);
	});

	it('derives thread and conversation from the key and its owner', async () => {
		const { opened, bodies } = await open(known(), listed(), created);
		const { threadId } = opened;
		const { id } = bodies[1] as { id: string };
		expect(bodies[1]).toEqual({ id, threadId, title: 'Hi', createdById: 'u' });
		expect(opened).toEqual({ threadId, conversationId: id });
		expect(await open(known(), listed(), created)).toMatchObject({ opened });
		const other = await open({ ...known(), id: 'another' }, listed(), created);
		expect([other.opened.threadId, other.bodies[1]]).not.toContain(threadId);
		expect(new Set([threadId, id, KEY.keyId]).size).toBe(3);
	});

	it('sends nothing while the server does not tell the owner', async () => {
		const { opened, names, clock } = await open({}, status(503));
		expect(opened).toMatchObject({ status: 'failed', failure: { status: 503 } });
		expect(new Set(names)).toEqual(new Set(['GET /user/me']));
		expect(clock.elapsed()).toBe(60 * SECOND);
		const waited = await open({}, no(lost), no(lost), no(lost), success({ id: 'u' }), shown);
		expect(waited.opened).toMatchObject({ conversationId: 'c' });
	});

	it.each<[string, RequestOutcome]>([
		['a token that is not valid', status(401)],
		['a token that may do nothing', status(403)],
		...(['invalidCredential', 'blocked', 'redirect'] as const).map(
			(kind): [string, RequestOutcome] => [
				`what is ${kind}`,
				no({ ...failure, kind, status: 302 }),
			],
		),
		['a certificate that is not trusted', no({ ...lost, code: 'EPROTO' })],
	])('does not ask again with %s', async (_, outcome) => {
		const { opened, clock } = await open({}, outcome);
		expect(opened).toMatchObject({ status: 'failed' });
		expect(clock.elapsed()).toBe(0);
	});
});

describe('openConversationByKey without an owner', () => {
	const nobody = () => ({ id: null });
	const theirs = {
		status: 'failed',
		reason: 'The conversation of this key belongs to somebody else',
	};

	const looked = [listed(), noThread];

	it.each<[string, Answer[], string, object]>([
		['finds it', [shown], 'search', FOUND],
		[
			'creates it',
			[...looked, noThread, created],
			'search thread thread create',
			{ conversationId: 'new' },
		],
		['takes what came meanwhile', [...looked, there, shown], 'search thread thread search', FOUND],
		[
			'refuses what is somebody else’s',
			[listed(), there, listed()],
			'search thread search',
			theirs,
		],
		['creates nothing while E5 fails', [status(500)], 'search', failedWith(500)],
		['creates nothing unread', [listed(), status(403)], 'search thread', failedWith(403)],
		[
			'creates nothing unread twice',
			[...looked, status(403)],
			'search thread thread',
			failedWith(403),
		],
	])('%s', async (_, answers, names, result) => {
		const course = await open(nobody(), ...answers);
		expect(course.names.join(' ')).toBe(names);
		expect(course.opened).toMatchObject(result);
	});

	it('derives the thread from the key and the credential, and gives no ID', async () => {
		const { opened, bodies, clock } = await open(nobody(), ...looked, noThread, created);
		expect(bodies.at(-1)).toEqual({ threadId: opened.threadId, title: 'Hi' });
		expect(opened.threadId).not.toBe((await open({ id: 'n8n' }, shown)).opened.threadId);
		expect(clock.waits).toEqual([1_000]);
	});
});

describe('openNewConversation', () => {
	const openOn = async (...answers: Answer[]) => {
		const { asking, asked } = answering(...answers);
		return { opened: await openNewConversation(asking, 't', 'Hi'), names: namesOf(asked), asked };
	};
	const done = { threadId: 't', conversationId: 'c' };
	const mine = listed({ id: 'c', threadId: 't' });

	const all = [no(lost), listed(), no(lost), listed(), no(lost), listed()];

	it.each<[string, Answer[], string, object]>([
		['creates it', [success({ id: 'c', threadId: 't' })], 'create', done],
		['looks for it after a lost answer', [no(lost), mine], 'create search', done],
		['looks for it after another success', [success({}), mine], 'create search', done],
		['gives up after three', all, 'create search create search create search', { failure: lost }],
		['does not send again unsearched', [no(lost), status(500)], 'create search', { failure: lost }],
		['does not search after a refusal', [status(403)], 'create', failedWith(403)],
	])('%s', async (_, answers, names, result) => {
		const course = await openOn(...answers);
		expect(course.names.join(' ')).toBe(names);
		expect(course.opened).toMatchObject({ threadId: 't', ...result });
		expect(bodiesOf(course.asked)[0]).toEqual({ threadId: 't', title: 'Hi' });
	});
});
