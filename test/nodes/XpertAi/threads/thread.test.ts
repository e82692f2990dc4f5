import { threadState } from '../../../../nodes/XpertAi/threads/state';
import { readThread } from '../../../../nodes/XpertAi/threads/thread';
import { answering, failure, no, success } from './support/answering';

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
		const reading = await read({
			...THREAD,
			status: 'busy',
			values: { messages },
			metadata: 'odd',
		});
		expect(reading).toMatchObject({ state: { status: 'busy' } });
		const found = 'state' in reading ? reading.state.values?.messages : undefined;
		expect(found?.map(({ content }) => content)).toEqual([undefined, undefined, 1, 'text']);
	});

	it('says why it could not be read', async () => {
		const { send } = answering(no(failure)).asking;
		expect(await readThread(send, 't')).toEqual({ failure });
	});
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
