import { readThread, threadAnswer } from '../../../../nodes/XpertAi/runs/thread';
import type { ApiRequest, Outcome } from '../../../../nodes/XpertAi/transport/request';

const failure = { kind: 'status' as const, status: 500, method: 'GET', path: '/api/ai/threads/t' };

/** A server that answers this, and what it was asked. */
function answering(outcome: Outcome) {
	const asked: ApiRequest[] = [];
	const send = async (request: ApiRequest) => {
		asked.push(request);
		return outcome;
	};
	return { send, asked };
}

const success = (answer: unknown): Outcome => ({ ok: true, status: 200, answer });

describe('reading a thread', () => {
	it('asks for it by its id, as one segment of the path', async () => {
		const { send, asked } = answering(success({}));
		await readThread(send, 'a/b ü');
		expect(asked).toMatchObject([{ method: 'GET', path: '/threads/a%2Fb%20%C3%BC' }]);
	});

	it('gives its state, with what newer servers add', async () => {
		const state = { status: 'idle', values: { messages: [], more: 1 }, interrupts: {}, new: true };
		expect(await readThread(answering(success(state)).send, 't')).toEqual({ state });
	});

	it('gives no state for an answer that is none', async () => {
		for (const answer of [{}, { status: 5 }, { values: { messages: 'no' } }]) {
			const reading = await readThread(answering(success(answer)).send, 't');
			const { status, values } = 'state' in reading ? reading.state : {};
			expect([status, values?.messages]).toEqual([undefined, undefined]);
		}
	});

	it.each([[], {}, 'OK', { statusCode: 500 }, { status: 5 }])(
		'takes a success that says something else for none: %j',
		(answer) => expect(threadAnswer(answer)).toBe('it is not a thread'),
	);

	it('reads each part by itself: one odd message hides neither the status nor the others', async () => {
		const messages = [null, 7, { content: 1, type: 2 }, { id: 'm', content: 'text' }];
		const state = { status: 'busy', values: { messages }, metadata: 'odd' };
		const reading = await readThread(answering(success(state)).send, 't');
		expect(reading).toMatchObject({ state: { status: 'busy' } });
		const read = 'state' in reading ? reading.state.values?.messages : undefined;
		expect(read?.map(({ content }) => content)).toEqual([undefined, undefined, 1, 'text']);
	});

	it('says why it could not be read', async () => {
		expect(await readThread(answering({ ok: false, failure }).send, 't')).toEqual({ failure });
	});
});
