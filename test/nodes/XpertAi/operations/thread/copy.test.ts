import { copy } from 'nodes/XpertAi/operations/thread/copy';
import type { AnswerSchema } from 'nodes/XpertAi/transport/answerSchemas';
import { readResponse } from 'nodes/XpertAi/transport/answer';

/** What is made of an answer, as it comes from a server. */
const readFrom = (body: object) =>
	readResponse(
		{ statusCode: 200, headers: {}, body: JSON.stringify(body) },
		copy.answerSchema as AnswerSchema,
		(text) => text,
	);

describe('the copy of a thread', () => {
	it.each(['thread_id', 'threadId', 'id'])('may be named by its %s alone', (key) => {
		const answer = { [key]: 't-1', status: 'idle' };
		expect(readFrom(answer)).toMatchObject({ ok: true, answer });
	});

	it('is none where the answer names no thread', () => {
		const reason = 'it names no thread';
		expect(readFrom({ status: 'idle' })).toMatchObject({ kind: 'unreadable', reason });
	});
});
