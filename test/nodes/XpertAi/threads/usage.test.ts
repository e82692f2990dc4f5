import { messagesOf } from '../../../../nodes/XpertAi/threads/messages';
import { usageIn } from '../../../../nodes/XpertAi/threads/usage';
import { recordedThread } from './support/recorded';

describe('the tokens that a run has used', () => {
	it('are those of all its messages, where the model counts them', () => {
		expect(usageIn(messagesOf(recordedThread('tool-calls', 'thread')))).toEqual({
			inputTokens: 10,
			outputTokens: 10,
			totalTokens: 20,
		});
	});

	it('are not known where it does not', () => {
		const thread = recordedThread('sources', 'thread, after the answer');
		expect(usageIn(messagesOf(thread))).toBeUndefined();
	});

	it('are told apart', () => {
		const usage = { prompt_tokens: 1, completion_tokens: 20, total_tokens: 300 };
		const message = { response_metadata: { usage } };
		expect(usageIn([message, {}, message])).toEqual({
			inputTokens: 2,
			outputTokens: 40,
			totalTokens: 600,
		});
	});
});
