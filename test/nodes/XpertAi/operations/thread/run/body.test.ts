import { runBodyOf } from '../../../../../../nodes/XpertAi/operations/thread/run/body';
import { runFields } from '../../../../../../nodes/XpertAi/operations/thread/run/fields';
import { itemOf } from '../../../../support/context';
import { thrownBy } from '../../../../support/thrown';

const ENVIRONMENT_ID = 'e2000000-0000-4000-8000-000000000001';
const PROJECT_ID = 'e3000000-0000-4000-8000-000000000001';
const ASSISTANT = {
	assistantId: { __rl: true, mode: 'list', value: 'd0000000-0000-4000-8000-000000000001' },
};
const body = (parameters: Record<string, unknown>) =>
	runBodyOf(itemOf({ ...ASSISTANT, ...parameters }, { fields: runFields, index: 3 }));
const refusal = (parameters: Record<string, unknown>) => thrownBy(() => body(parameters)).message;

describe('the body of a run', () => {
	it('holds the message', () => {
		expect(body({ message: 'Hi' })).toEqual({
			assistant_id: 'd0000000-0000-4000-8000-000000000001',
			input: { action: 'send', message: { input: { input: 'Hi' } } },
		});
	});

	it.each([
		[
			'f0000000-0000-4000-8000-000000000001, f0000000-0000-4000-8000-000000000002 ,',
			['f0000000-0000-4000-8000-000000000001', 'f0000000-0000-4000-8000-000000000002'],
		],
		[
			['f0000000-0000-4000-8000-000000000001', 'f0000000-0000-4000-8000-000000000002'],
			['f0000000-0000-4000-8000-000000000001', 'f0000000-0000-4000-8000-000000000002'],
		],
		['', []],
		[[], []],
	])('holds the files %j by their kind of id', (given, ids) => {
		const filesOf = (additionalFields: object) =>
			(body({ message: 'Hi', additionalFields }) as Sent).input.message.input.files ?? [];
		expect(filesOf({ fileContextIds: given })).toEqual(ids.map((fileId) => ({ fileId })));
		expect(filesOf({ storageFileIds: given })).toEqual(ids.map((id) => ({ id })));
	});

	it('holds what an Xpert server takes beside the message', () => {
		const additionalFields = {
			context: '{"user":"u"}',
			state: '{"order":7}',
			environmentId: ENVIRONMENT_ID,
			projectId: PROJECT_ID,
		};
		expect(body({ message: 'Hi', additionalFields })).toEqual({
			assistant_id: 'd0000000-0000-4000-8000-000000000001',
			input: {
				action: 'send',
				message: { input: { input: 'Hi' } },
				state: { order: 7 },
				environmentId: ENVIRONMENT_ID,
				projectId: PROJECT_ID,
			},
			context: { user: 'u' },
		});
	});

	it('holds a decision with what goes with it', () => {
		const additionalFields = { payload: '{"only":1}', target: '{"task":"t"}', context: '{"a":1}' };
		expect(body({ inputType: 'decision', decision: 'confirm', additionalFields })).toEqual({
			assistant_id: 'd0000000-0000-4000-8000-000000000001',
			input: {
				action: 'resume',
				target: { task: 't' },
				decision: { type: 'confirm', payload: { only: 1 } },
			},
			context: { a: 1 },
		});
	});

	it.each(['{}', '{"only":1}', 'null', 'false', '""', '"no"'])(
		'holds a rejection without Decision Data %s, with which the server would carry it out',
		(payload) => {
			expect(
				body({ inputType: 'decision', decision: 'reject', additionalFields: { payload } }),
			).toMatchObject({ input: { decision: { type: 'reject' } } });
			const sent = body({
				inputType: 'decision',
				decision: 'reject',
				additionalFields: { payload },
			});
			expect(JSON.stringify(sent)).not.toContain('payload');
		},
	);

	it('holds no Decision Data that nobody has added', () => {
		const sent = body({ inputType: 'decision', decision: 'confirm', additionalFields: {} });
		expect(JSON.stringify(sent)).not.toContain('payload');
	});

	it('has the last message answered again', () => {
		expect(body({ inputType: 'retry' })).toEqual({
			assistant_id: 'd0000000-0000-4000-8000-000000000001',
			input: { action: 'retry', source: {} },
		});
	});

	it('holds nothing of the kinds of input that are not chosen', () => {
		for (const inputType of ['decision', 'retry']) {
			const sent = body({ inputType, decision: 'confirm', message: 'left over' });
			expect(JSON.stringify(sent)).not.toContain('left over');
		}
	});

	it('may be any JSON, sent as it is', () => {
		const jsonBody = '{"assistant_id":"a","input":{"action":"follow_up"},"more":[1]}';
		expect(body({ bodyMode: 'json', jsonBody })).toEqual(JSON.parse(jsonBody));
	});
});

interface Sent {
	input: { message: { input: { files?: unknown[] } } };
}

describe('what cannot be sent is refused by the name of its field', () => {
	it('no message', () => {
		for (const message of ['', undefined]) {
			expect(refusal({ message })).toBe('"Message" is missing [item 3]');
		}
	});

	it('no assistant', () => {
		const assistantId = { __rl: true, mode: 'id', value: '' };
		expect(refusal({ assistantId, message: 'Hi' })).toMatch(
			/^"Assistant" (is missing|must not be empty) \[item 3\]$/,
		);
	});

	it.each([
		['Input', { inputType: 'chat' }],
		['Decision', { inputType: 'decision', decision: 'perhaps' }],
		['Target', { inputType: 'decision', additionalFields: { target: '[1]' } }],
		['State', { message: 'Hi', additionalFields: { state: '[1]' } }],
		['Context', { message: 'Hi', additionalFields: { context: '"u"' } }],
		['File Context IDs', { message: 'Hi', additionalFields: { fileContextIds: [{ id: 'f' }] } }],
		['Storage File IDs', { message: 'Hi', additionalFields: { storageFileIds: [''] } }],
		['JSON Body', { bodyMode: 'json', jsonBody: '{' }],
		['JSON Body', { bodyMode: 'json', jsonBody: '' }],
	])('"%s": %j', (name, parameters) => {
		expect(refusal(parameters)).toMatch(new RegExp(`^"${name}".* must .*\\[item 3\\]$`));
	});
});
