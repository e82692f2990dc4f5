import { runInput } from '../../../../nodes/XpertAi/runs/input';
import type { RunInput } from '../../../../nodes/XpertAi/runs/input';

const said = (text: string) => ({
	input: { action: 'send', message: { input: { input: text } } },
});
const chat = (...messages: Array<[role: string, content: string]>): RunInput => ({
	kind: 'chat',
	messages: messages.map(([role, content]) => ({ role, content })),
});
const decision = (type: string, payload?: unknown, target?: unknown): RunInput => ({
	kind: 'decision',
	decision: type,
	payload,
	target,
});

describe('for an Xpert server', () => {
	it('a message is sent as text', () => {
		expect(runInput('xpert', { kind: 'message', text: 'Hi', files: undefined })).toEqual(
			said('Hi'),
		);
	});

	it('files go along by their ids, and none is no list', () => {
		const files = [{ id: 'f1' }, { id: 'f2' }];
		expect(runInput('xpert', { kind: 'message', text: 'Hi', files })).toEqual({
			input: { action: 'send', message: { input: { input: 'Hi', files } } },
		});
		expect(runInput('xpert', { kind: 'message', text: 'Hi', files: [] })).toEqual(said('Hi'));
	});

	it('one chat message is sent as it is', () => {
		expect(runInput('xpert', chat(['user', 'Hi']))).toEqual(said('Hi'));
	});

	it('several chat messages become one text that tells who says what', () => {
		const messages = chat(['system', 'Be brief'], ['user', 'Hi'], ['assistant', 'Hello']);
		expect(runInput('xpert', messages)).toEqual(
			said('system: Be brief\n\nuser: Hi\n\nassistant: Hello'),
		);
	});

	it('a decision resumes what it is about', () => {
		expect(runInput('xpert', decision('confirm'))).toEqual({
			input: { action: 'resume', target: {}, decision: { type: 'confirm' } },
		});
		expect(runInput('xpert', decision('reject', { why: 'no' }, { task: 't' }))).toEqual({
			input: {
				action: 'resume',
				target: { task: 't' },
				decision: { type: 'reject', payload: { why: 'no' } },
			},
		});
	});
});

describe('for a LangGraph server', () => {
	it('a message is the only one of the user', () => {
		expect(runInput('langgraph', { kind: 'message', text: 'Hi', files: undefined })).toEqual({
			input: { messages: [{ role: 'user', content: 'Hi' }] },
		});
	});

	it('chat messages are sent as they are', () => {
		const messages = chat(['system', 'Be brief'], ['user', 'Hi']);
		expect(runInput('langgraph', messages)).toEqual({
			input: {
				messages: [
					{ role: 'system', content: 'Be brief' },
					{ role: 'user', content: 'Hi' },
				],
			},
		});
	});

	it.each(['confirm', 'reject'])('a decision to %s is a command', (type) => {
		expect(runInput('langgraph', decision(type))).toEqual({ command: { resume: { type } } });
	});

	it.each([{}, { why: 'no' }, 'text', 7])(
		'a payload of %j does not hide the decision',
		(payload) => {
			expect(runInput('langgraph', decision('reject', payload))).toEqual({
				command: { resume: { type: 'reject', payload } },
			});
		},
	);
});
