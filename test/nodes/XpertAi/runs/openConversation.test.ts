import {
	createConversation,
	openConversation,
} from '../../../../nodes/XpertAi/runs/openConversation';
import type { ApiRequest } from '../../../../nodes/XpertAi/transport/request';
import { answering, failure, listed, lost, mine, no, success } from '../threads/support/answering';
import type { Answer } from '../threads/support/answering';

const pathsOf = (asked: ApiRequest[]) => asked.map(({ path }) => path);

const noThread = no(failure);
/** A thread that is there: it names itself. */
const thread = (path: string) =>
	success({
		thread_id: path.slice('/threads/'.length),
		status: 'idle',
		values: { messages: [{ content: 'a secret' }] },
	});
describe('opening the conversation of a key', () => {
	const open = async (...answers: Answer[]) => {
		const { asking, asked } = answering(...answers);
		return { opened: await openConversation(asking, 't', 'Hi'), asked };
	};
	const threadsOf = (asked: ApiRequest[]) =>
		asked.flatMap(({ path, body }) =>
			path.startsWith('/threads/')
				? path.slice('/threads/'.length)
				: ((JSON.parse(String(body)) as { where?: { threadId: string } }).where?.threadId ?? []),
		);

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

	it('does not look for one that the server refuses to make', async () => {
		const refused = no({ ...failure, status: 403 });
		const { opened } = await open(listed(), noThread, noThread, refused, listed(mine('c')));
		expect(opened).toMatchObject({ failure: { status: 403 } });
	});

	it('takes the one that another message under the key makes meanwhile', async () => {
		const { opened, asked } = await open(listed(), noThread, thread, listed(mine('c')));
		expect(opened).toEqual({ threadId: 't', conversationId: 'c' });
		expect(pathsOf(asked)).not.toContain('/conversations');
		const unknown = await open(listed(), thread, no(failure));
		expect(unknown.opened).toMatchObject({ failure });
	});

	it('makes it on another thread where the thread is another person’s, the same one every time', async () => {
		const theirs = [listed(), thread, listed()];
		const { asked } = await open(...theirs, ...theirs, listed(), noThread, noThread, no(failure));
		const [first, , , second, , , third] = threadsOf(asked);
		expect(first).toBe('t');
		expect(new Set([first, second, third]).size).toBe(3);
		const again = await open(...theirs, ...theirs, listed(mine('c', '', third)));
		expect(again.opened).toEqual({ threadId: third, conversationId: 'c' });
		expect(pathsOf(again.asked)).not.toContain('/conversations');
	});

	it('is none where each of twenty threads is somebody else’s', async () => {
		const taken = Array.from({ length: 30 }, () => [listed(), thread, listed()]).flat();
		const { opened, asked } = await open(...taken);
		expect(opened).toBeUndefined();
		expect(new Set(threadsOf(asked)).size).toBe(20);
	});

	it('is none while it cannot be told whether the thread is there: taken for nobody’s, it would be shared', async () => {
		const forbidden = no({ ...failure, status: 403 });
		for (const answers of [[forbidden], [no(lost)], [noThread, forbidden], [noThread, no(lost)]]) {
			const { opened, asked } = await open(listed(), ...answers);
			expect(opened).toHaveProperty('failure');
			expect(pathsOf(asked).at(-1)).toBe('/threads/t');
			expect(pathsOf(asked)).not.toContain('/conversations');
		}
		const passing = await open(listed(), noThread, thread, listed(), listed(), no(lost));
		expect(threadsOf(passing.asked)[4]).not.toBe('t');
	});

	it('makes none where it cannot be told whether there is one', async () => {
		const { opened, asked } = await open(no(failure));
		expect(opened).toMatchObject({ failure });
		expect(new Set(pathsOf(asked))).toEqual(new Set(['/conversations/search']));
		expect(asked[0]?.checkAnswer?.({ total: 0 })).toBe('it holds no list of results');
	});
});

describe('making a conversation', () => {
	const create = async (...answers: Answer[]) => {
		const { asking, asked } = answering(...answers);
		return { made: await createConversation(asking, 't', 'Hi'), asked };
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
		{ id: '', threadId: 't' },
		{ id: 'c', threadId: 'other' },
	])('is looked for where the success says something else: %j', async (answer) => {
		const { made, asked } = await create(success(answer), listed(mine('c')));
		expect(made).toEqual({ threadId: 't', conversationId: 'c' });
		expect(pathsOf(asked)).toEqual(['/conversations', '/conversations/search']);
	});

	it('asks three times at most', async () => {
		const { made, asked } = await create((path) =>
			path.endsWith('/search') ? listed() : no(lost),
		);
		expect(made).toMatchObject({ failure: lost });
		expect(pathsOf(asked).filter((path) => path === '/conversations')).toHaveLength(3);
	});

	it('does not ask again when it cannot be told whether it was made', async () => {
		const { made, asked } = await create(no(lost), no(failure));
		expect(made).toMatchObject({ failure: { code: 'ECONNRESET' } });
		expect(pathsOf(asked)).toEqual(['/conversations', '/conversations/search']);
	});

	it('is refused at once by a server that says no', async () => {
		const { made, asked } = await create(no({ ...failure, status: 403 }));
		expect(made).toMatchObject({ failure: { status: 403 } });
		expect(asked).toHaveLength(1);
	});
});
