import type { Failure } from '../../../../nodes/XpertAi/transport/failure';
import {
	threadState,
	assistantIdOf,
	conversationIdOf,
	lastInputOf,
	readThreadOnce,
	readThread,
	readThreadWithRetries,
} from '../../../../nodes/XpertAi/threads/thread';
import { answering, failure, lost, no, success } from './support/answering';

const THREAD = { thread_id: 't', status: 'idle' };

/** What is read of the thread `t` when a server answers this. */
const read = async (answer: unknown) =>
	await readThread(answering(success(answer)).asking.send, 't');

describe('reading a thread', () => {
	it('asks for it by its id, as one segment of the path', async () => {
		const { asking, asked } = answering(success({}));
		await readThread(asking.send, 'a/b ü');
		expect(asked).toMatchObject([{ method: 'GET', path: '/threads/a%2Fb%20%C3%BC' }]);
	});

	it('gives its state, with what newer servers add', async () => {
		const state = { ...THREAD, values: { messages: [], more: 1 }, new: true };
		expect(await read(state)).toEqual({ state });
	});

	it.each([
		...[undefined, [], {}, 'OK', { statusCode: 500 }, { ...THREAD, status: 5 }],
		...[{ status: 'idle' }, { ...THREAD, thread_id: 'another' }],
	])('takes a success that is not this thread for none: %j', async (answer) => {
		expect(await read(answer)).toMatchObject({ failure: { kind: 'unreadable' } });
	});

	it('reads each part by itself: one odd message hides neither the status nor the others', async () => {
		const messages = [null, 7, { content: 1, id: 2 }, { id: 'm', content: 'text' }];
		const odd = await read({ ...THREAD, metadata: { id: 7, assistant_id: 'a' } });
		expect(odd).toMatchObject({ state: { metadata: { id: undefined, assistant_id: 'a' } } });
		const reading = await read({
			...THREAD,
			status: 'busy',
			values: { messages },
			metadata: 'odd',
		});
		expect(reading).toMatchObject({ state: { status: 'busy' } });
		const found = 'state' in reading ? reading.state.values?.messages : undefined;
		expect(found?.map(({ content }) => content)).toEqual([undefined, undefined, 1, 'text']);
		expect(found?.map(({ id }) => id)).toEqual([undefined, undefined, undefined, 'm']);
	});

	it('says why it could not be read', async () => {
		const { send } = answering(no(failure)).asking;
		expect(await readThread(send, 't')).toEqual({ failure });
	});
});

describe('a thread that is looked at', () => {
	const noRoute: Failure = { ...failure, status: 404, missing: 'route' };

	it('is asked for once, as those who look will look again', async () => {
		const { asking, asked } = answering(no(lost), success(THREAD));
		expect(await readThreadOnce(asking, 't')).toEqual({ failure: lost });
		expect(asked).toHaveLength(1);
		expect(await readThreadOnce(asking, 't')).toEqual({ state: THREAD });
	});

	it('does not miss its route for what is said once', async () => {
		const { asking } = answering(no(noRoute));
		expect(await readThreadOnce(asking, 't')).toEqual({ failure: { ...failure, status: 404 } });
	});

	it('is asked for up to three times where nobody looks again', async () => {
		const read = answering(no(lost), success(THREAD));
		expect(await readThreadWithRetries(read.asking, 't')).toEqual({ state: THREAD });
		const away = answering(no(lost));
		expect(await readThreadWithRetries(away.asking, 't')).toHaveProperty('failure.attempts', 3);
		expect(away.asked).toHaveLength(3);
		const missing = answering(no(noRoute));
		expect(await readThreadWithRetries(missing.asking, 't')).toMatchObject({ failure: noRoute });
	});
});

describe('what a thread tells of itself', () => {
	const told = (state: object | undefined) => {
		const thread = state && threadState.parse(state);
		return [conversationIdOf(thread), assistantIdOf(thread), lastInputOf(thread)];
	};

	it('is its conversation, its assistant and what it was asked last', () => {
		const metadata = { id: 'c', assistant_id: 'a' };
		expect(told({ metadata, values: { input: 'q' } })).toEqual(['c', 'a', 'q']);
	});

	it.each([
		undefined,
		{},
		{ metadata: null, values: null },
		{ metadata: {}, values: { input: '' } },
	])('is nothing in %j', (state) => expect(told(state)).toEqual([undefined, undefined, undefined]));
});

describe('the state of a thread', () => {
	it.each([
		{},
		{ ...THREAD, values: { messages: [] } },
		{ values: null },
		{ values: { messages: null, documents: [1] } },
		{ values: { messages: [{ content: [{ type: 'text' }], id: 'm' }] }, more: 1 },
	])('is read from %j, and nothing is lost', (state) => {
		expect(threadState.parse(state)).toEqual(state);
	});
});
