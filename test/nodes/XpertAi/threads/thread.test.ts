import type { Failure } from 'nodes/XpertAi/transport/failure';
import { readThread, threadStateSchema } from 'nodes/XpertAi/threads/thread';
import { no, success } from '../../support/send';
import { answering, failure, lost } from './support/answering';

const THREAD = { thread_id: 't', status: 'idle' };

/** What is read of the thread `t` when a server answers this. */
const read = async (answer: unknown) => await readThread(answering(success(answer)).asking, 't');

describe('reading a thread', () => {
	it('asks for it by its id, as one segment of the path', async () => {
		const { asking, asked } = answering(success({ ...THREAD, thread_id: 'a/b ü' }));
		await readThread(asking, 'a/b ü');
		expect(asked).toMatchObject([{ method: 'GET', path: '/threads/a%2Fb%20%C3%BC' }]);
	});

	it('gives its state, with what newer servers add', async () => {
		const state = { ...THREAD, values: { messages: [], more: 1 }, new: true };
		expect(await read(state)).toMatchObject({ ok: true, answer: state });
	});

	it.each([
		['nothing', undefined],
		['a list', []],
		['an empty object', {}],
		['a word', 'OK'],
		['an error', { statusCode: 500 }],
		['a status that is a number', { ...THREAD, status: 5 }],
		['no ID', { status: 'idle' }],
		['another ID', { ...THREAD, thread_id: 'another' }],
	])('takes a success that is not this thread for none: %s', async (_, answer) => {
		expect(await read(answer)).toMatchObject({ failure: { kind: 'unreadable' } });
	});

	it('reads each part by itself: one odd message hides neither the status nor the others', async () => {
		const messages = [null, 7, { content: 1, id: 2 }, { id: 'm', content: 'text' }];
		const odd = await read({ ...THREAD, metadata: { id: 7, assistant_id: 'a' } });
		expect(odd).toMatchObject({ answer: { metadata: { id: undefined, assistant_id: 'a' } } });
		const reading = await read({
			...THREAD,
			status: 'busy',
			values: { messages },
			metadata: 'odd',
		});
		expect(reading).toMatchObject({ answer: { status: 'busy' } });
		const found = reading.answer?.values?.messages;
		expect(found?.map(({ content }) => content)).toEqual([undefined, undefined, 1, 'text']);
		expect(found?.map(({ id }) => id)).toEqual([undefined, undefined, undefined, 'm']);
	});

	it('says why it could not be read', async () => {
		expect(await readThread(answering(no(failure)).asking, 't')).toMatchObject({ failure });
	});
});

describe('readThread', () => {
	const noRoute: Failure = { ...failure, status: 404, missing: 'route' };

	it('is sent once for those who poll', async () => {
		const { asking, asked } = answering(no(lost), success(THREAD));
		expect(await readThread(asking, 't', 1)).toMatchObject({ failure: lost });
		expect(asked).toHaveLength(1);
		const { asking: missing } = answering(no(noRoute));
		const unconfirmed = { ...failure, status: 404, missing: undefined };
		expect(await readThread(missing, 't', 1)).toMatchObject({ failure: unconfirmed });
	});

	it('is retried for others', async () => {
		const { asking, asked } = answering(no(lost));
		expect(await readThread(asking, 't')).toHaveProperty('failure.attempts', 3);
		expect(asked).toHaveLength(3);
		expect(await readThread(answering(no(noRoute)).asking, 't')).toMatchObject({
			failure: noRoute,
		});
	});
});

describe('the state of a thread', () => {
	it.each([
		['from an empty one', {}],
		['from one of a thread', { ...THREAD, values: { messages: [] } }],
		['where values are null', { values: null }],
		['where messages are null', { values: { messages: null, documents: [1] } }],
		[
			'with fields that nobody knows',
			{ values: { messages: [{ content: [{ type: 'text' }], id: 'm', more: 1 }] }, more: 1 },
		],
	])('is read %s, and nothing is lost', (_, state) => {
		expect(threadStateSchema.parse(state)).toEqual(state);
	});
});
