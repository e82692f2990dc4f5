import { readRunBody } from '../../../../../nodes/XpertAi/operations/thread/readRun';
import { readerOf } from '../../../support/context';
import { thrownBy } from '../../../support/thrown';

const ASSISTANT = { assistantId: { __rl: true, mode: 'list', value: 'a1' } };
const body = (family: 'xpert' | 'langgraph', parameters: Record<string, unknown>) =>
	readRunBody(readerOf({ ...ASSISTANT, ...parameters }), family);
const refusal = (family: 'xpert' | 'langgraph', parameters: Record<string, unknown>) =>
	thrownBy(() => readRunBody(readerOf({ ...ASSISTANT, ...parameters }, 3), family)).message;

const FAMILIES = ['xpert', 'langgraph'] as const;

describe('the body of a run', () => {
	it('holds the message for an Xpert server', () => {
		expect(body('xpert', { message: 'Hi' })).toEqual({
			assistant_id: 'a1',
			input: { action: 'send', message: { input: { input: 'Hi' } } },
		});
	});

	it.each([
		['f1, f2 ,', ['f1', 'f2']],
		[
			['f1', 'f2'],
			['f1', 'f2'],
		],
	])('holds the files %j by their ids', (files, ids) => {
		expect(body('xpert', { message: 'Hi', additionalFields: { files } })).toMatchObject({
			input: { message: { input: { input: 'Hi', files: ids.map((id) => ({ id })) } } },
		});
	});

	it('holds the message for a LangGraph server', () => {
		expect(body('langgraph', { message: 'Hi' })).toEqual({
			assistant_id: 'a1',
			input: { messages: [{ role: 'user', content: 'Hi' }] },
		});
	});

	it('holds chat messages', () => {
		const values = [
			{ role: 'system', content: 'Be brief' },
			{ role: 'user', content: 'Hi' },
		];
		const parameters = { inputType: 'chat', chatMessages: { values } };
		expect(body('langgraph', parameters)).toEqual({
			assistant_id: 'a1',
			input: { messages: values },
		});
		expect(body('xpert', parameters)).toEqual({
			assistant_id: 'a1',
			input: { action: 'send', message: { input: { input: 'system: Be brief\n\nuser: Hi' } } },
		});
	});

	it('holds a decision with what goes with it', () => {
		const additionalFields = { payload: '{"only":1}', target: '{"task":"t"}' };
		const parameters = { inputType: 'decision', decision: 'reject', additionalFields };
		const decision = { type: 'reject', payload: { only: 1 } };
		expect(body('xpert', parameters)).toEqual({
			assistant_id: 'a1',
			input: { action: 'resume', target: { task: 't' }, decision },
		});
		expect(body('langgraph', parameters)).toEqual({
			assistant_id: 'a1',
			command: { resume: decision },
		});
	});

	it('holds nothing of the kinds of input that are not chosen', () => {
		const parameters = {
			inputType: 'decision',
			decision: 'confirm',
			message: 'left over',
			chatMessages: { values: [{ role: 'user', content: 'left over' }] },
		};
		for (const family of FAMILIES) {
			expect(JSON.stringify(body(family, parameters))).not.toContain('left over');
		}
	});

	it('holds the further fields of LangGraph for such a server only', () => {
		const langGraphFields = {
			config: '{"tags":["n8n"],"recursion_limit":5}',
			metadata: '{"order":7}',
			context: '{"user":"u"}',
			interrupt_before: '["tools"]',
			interrupt_after: '[]',
			multitask_strategy: 'enqueue',
			if_not_exists: 'create',
			on_completion: 'keep',
			after_seconds: '2',
			webhook: 'https://example.com/done',
		};
		expect(body('langgraph', { message: 'Hi', langGraphFields })).toEqual({
			assistant_id: 'a1',
			input: { messages: [{ role: 'user', content: 'Hi' }] },
			config: { tags: ['n8n'], recursion_limit: 5 },
			metadata: { order: 7 },
			context: { user: 'u' },
			interrupt_before: ['tools'],
			interrupt_after: [],
			multitask_strategy: 'enqueue',
			if_not_exists: 'create',
			on_completion: 'keep',
			after_seconds: 2,
			webhook: 'https://example.com/done',
		});
		expect(Object.keys(body('xpert', { message: 'Hi', langGraphFields }) as object)).toEqual([
			'assistant_id',
			'input',
		]);
	});

	it('may be any JSON, sent as it is', () => {
		const jsonBody = '{"assistant_id":"a","input":{"action":"retry","source":{}},"more":[1]}';
		for (const family of FAMILIES) {
			expect(body(family, { bodyMode: 'json', jsonBody })).toEqual(JSON.parse(jsonBody));
		}
	});
});

describe('what cannot be sent is refused by the name of its field', () => {
	it.each(FAMILIES)('no message (%s)', (family) => {
		for (const message of ['', undefined]) {
			expect(refusal(family, { message })).toBe('"Message" is missing [item 3]');
		}
	});

	it.each(FAMILIES)('no assistant (%s)', (family) => {
		const assistantId = { __rl: true, mode: 'id', value: '' };
		expect(refusal(family, { assistantId, message: 'Hi' })).toMatch(
			/^"Assistant" (is missing|must not be empty) \[item 3\]$/,
		);
	});

	it.each(FAMILIES)('a decision that is none (%s)', (family) => {
		expect(refusal(family, { inputType: 'decision', decision: 'perhaps' })).toBe(
			'"Decision" must be one of confirm, reject, but is "perhaps" [item 3]',
		);
	});

	it.each(FAMILIES)('no chat messages (%s)', (family) => {
		const parameters = { inputType: 'chat', chatMessages: {} };
		expect(refusal(family, parameters)).toMatch(/^"(Chat Messages|Message)" .*\[item 3\]$/);
	});

	it('a chat message with nothing in it', () => {
		const values = [
			{ role: 'user', content: 'Hi' },
			{ role: 'user', content: '' },
		];
		expect(refusal('langgraph', { inputType: 'chat', chatMessages: { values } })).toMatch(
			/^"(Content|Message|Chat Messages)".* must not be empty.* \[item 3\]$/,
		);
	});

	it('a target that is no object', () => {
		const parameters = {
			inputType: 'decision',
			decision: 'confirm',
			additionalFields: { target: '[1]' },
		};
		expect(refusal('xpert', parameters)).toBe(
			'"Target" must be an object (JSON), but is [1] [item 3]',
		);
	});

	it('a field of LangGraph with a wrong value', () => {
		const parameters = { message: 'Hi', langGraphFields: { interrupt_before: '"tools"' } };
		expect(refusal('langgraph', parameters)).toMatch(
			/"Interrupt Before".* must be a list .*"tools"/,
		);
	});

	it.each(['{', ''])('JSON that is none: "%s"', (jsonBody) => {
		expect(refusal('xpert', { bodyMode: 'json', jsonBody })).toMatch(
			/^"JSON Body" must .*\[item 3\]$/,
		);
	});
});
