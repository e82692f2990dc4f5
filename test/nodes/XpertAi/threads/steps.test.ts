import { messagesOf } from '../../../../nodes/XpertAi/threads/messages';
import { threadState } from '../../../../nodes/XpertAi/threads/state';
import { stepsIn } from '../../../../nodes/XpertAi/threads/steps';
import { recordedThread } from './support/recorded';

describe('the calls of tools in a run', () => {
	it('are told with their arguments, who made them and what came of them', () => {
		const thread = recordedThread('sources', 'thread, while it waits');
		const [looked, waits] = stepsIn(messagesOf(thread), thread);
		expect(looked).toMatchObject({
			action: {
				tool: 'retriever-a10d0f9f-78fb-4441-99aa-1c0020315267',
				toolInput: { input: 'CITE zebra', query: 'CITE zebra' },
				toolCallId: 'call_njx22siw51',
				agent: 'G Knows and has a helper',
			},
			observation: { chunks: [{ index: 1 }, { index: 2 }] },
		});
		expect(waits).toEqual({
			action: {
				tool: 'subhelper',
				toolInput: { input: 'CITE zebra', query: 'CITE zebra' },
				toolCallId: 'call_ke3t46n7ok',
				agent: 'G Knows and has a helper',
			},
		});
	});

	it('have what the tool said as text where it is no JSON', () => {
		const thread = recordedThread('sources', 'thread, after the decision');
		expect(stepsIn(messagesOf(thread), thread)[1]).toMatchObject({
			observation: 'You said: CITE zebra [users seen: 1]',
		});
	});

	it('are all there, of a message that makes several', () => {
		const thread = recordedThread('streams', 'thread after two helpers');
		const steps = stepsIn(messagesOf(thread), thread);
		expect(steps.map(({ action }) => action.tool)).toEqual(['helper', 'other']);
	});

	it('are what can be read of odd ones', () => {
		const calls = [null, { id: 7 }, { id: 'c', name: 'tool' }];
		const thread = threadState.parse({ values: { messages: [{ id: 'm', tool_calls: calls }] } });
		expect(stepsIn(messagesOf(thread), thread)).toEqual([
			{ action: { tool: 'tool', toolInput: undefined, toolCallId: 'c' } },
		]);
	});
});
