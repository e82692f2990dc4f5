import get from 'lodash/get';

import { runBodyOf } from '../../../../../../nodes/XpertAi/operations/thread/run/runRequest';
import {
	decideFields,
	retryRunFields,
	runFields,
} from '../../../../../../nodes/XpertAi/operations/thread/run/fields';
import type { RunKind } from '../../../../../../nodes/XpertAi/runs/input';
import { itemOf } from '../../../../support/context';
import { thrownBy } from '../../../../support/thrown';

const ENVIRONMENT_ID = 'e2000000-0000-4000-8000-000000000001';
const PROJECT_ID = 'e3000000-0000-4000-8000-000000000001';
const ASSISTANT = {
	assistantId: { __rl: true, mode: 'list', value: 'd0000000-0000-4000-8000-000000000001' },
};
const FIELDS = { message: runFields, decision: decideFields, retry: retryRunFields };
const body = (parameters: Record<string, unknown>, kind: RunKind = 'message') =>
	runBodyOf(itemOf({ ...ASSISTANT, ...parameters }, { fields: FIELDS[kind], index: 3 }), kind);
const refusal = (parameters: Record<string, unknown>, kind?: RunKind) =>
	thrownBy(() => body(parameters, kind)).message;

const DECISION = { decision: 'confirm' };

/** The option IDs with one row. */
const rowOf = (kind: string, id: unknown) => ({ ids: { values: [{ kind, id }] } });

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
		const filesOf = (options: object) =>
			get(body({ message: 'Hi', options }), 'input.message.input.files') ?? [];
		expect(filesOf(rowOf('fileContext', given))).toEqual(ids.map((fileId) => ({ fileId })));
		expect(filesOf(rowOf('storageFile', given))).toEqual(ids.map((id) => ({ id })));
	});

	it('holds what an Xpert server takes beside the message', () => {
		const options = {
			context: '{"user":"u"}',
			state: '{"order":7}',
			ids: {
				values: [
					{ kind: 'environment', id: ENVIRONMENT_ID },
					{ kind: 'project', id: PROJECT_ID },
				],
			},
		};
		expect(body({ message: 'Hi', options })).toEqual({
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
		const options = { payload: '{"only":1}', target: '{"task":"t"}', context: '{"a":1}' };
		expect(body({ decision: 'confirm', options }, 'decision')).toEqual({
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
			const sent = body({ decision: 'reject', options: { payload } }, 'decision');
			expect(sent).toMatchObject({ input: { decision: { type: 'reject' } } });
			expect(JSON.stringify(sent)).not.toContain('payload');
		},
	);

	it('holds no Decision Data that nobody has added', () => {
		const sent = body({ decision: 'confirm', options: {} }, 'decision');
		expect(JSON.stringify(sent)).not.toContain('payload');
	});

	it.each(['', '{}', 'null', null])('is about what waits where Target is empty (%j)', (target) => {
		const sent = body({ decision: 'confirm', options: { target } }, 'decision');
		expect(get(sent, 'input.target')).toEqual({});
	});

	it('holds changed arguments by their calls', () => {
		const changedArguments = '{"call_1":{"amount":20},"call_2":{"to":"Ann"}}';
		const sent = body({ decision: 'confirm', options: { changedArguments } }, 'decision');
		expect(get(sent, 'input.patch')).toEqual({
			toolCalls: [
				{ id: 'call_1', args: { amount: 20 } },
				{ id: 'call_2', args: { to: 'Ann' } },
			],
		});
	});

	it.each([
		['confirm', '{}'],
		['reject', '{"call_1":{"amount":20}}'],
	])('holds none with %s and %s', (decision, changedArguments) => {
		const sent = body({ decision, options: { changedArguments } }, 'decision');
		expect(sent.input).not.toHaveProperty('patch');
	});

	it.each([
		...['confirm', 'Confirm', ' CONFIRM\n', true, 'true', 'True'].map((given) => [
			given,
			'confirm',
		]),
		...['reject', 'Reject', 'REJECT', false, 'false', 'FALSE'].map((given) => [given, 'reject']),
	])('takes %j for %s', (decision, type) => {
		const sent = body({ decision, options: { payload: '{"a":1}' } }, 'decision');
		// A rejection with a payload carries out what it rejects.
		const payload = type === 'confirm' ? { payload: { a: 1 } } : {};
		expect(sent.input).toMatchObject({ decision: { type } });
		expect(get(sent, 'input.decision')).toEqual({ type, ...payload });
	});

	it.each(['perhaps', 'yes', 7, ['confirm'], { type: 'confirm' }])(
		'refuses any other decision in one wording: %j',
		(decision) =>
			expect(refusal({ decision }, 'decision')).toMatch(
				/^"Decision" must be one of confirm, reject, but is .* \[item 3\]$/,
			),
	);

	it('has the last message answered again', () => {
		expect(body({}, 'retry')).toEqual({
			input: { action: 'retry', source: {} },
		});
	});

	it('may be any JSON, sent as it is', () => {
		const jsonBody = '{"assistant_id":"a","input":{"action":"follow_up"},"more":[1]}';
		expect(body({ options: { bodyMode: 'json', jsonBody } })).toEqual(JSON.parse(jsonBody));
	});
});

describe('what cannot be sent', () => {
	it.each<[string, Record<string, unknown>, RunKind]>([
		['"Message" is missing', { message: '' }, 'message'],
		['"Message" is missing', { message: undefined }, 'message'],
		['"Decision" is missing', { decision: '' }, 'decision'],
	])('is told as %s with %j', (words, parameters, kind) => {
		expect(refusal(parameters, kind)).toBe(`${words} [item 3]`);
	});

	it('is told as a missing assistant', () => {
		const assistantId = { __rl: true, mode: 'id', value: '' };
		const words = /^"Assistant" (is missing|must not be empty) \[item 3\]$/;
		expect(refusal({ assistantId, message: 'Hi' })).toMatch(words);
	});

	it.each<[string, Record<string, unknown>, object?]>([
		['Target', { target: '[1]' }, DECISION],
		['Changed Arguments', { changedArguments: '[1]' }, DECISION],
		['Changed Arguments', { changedArguments: '{"call_1":20}' }, DECISION],
		['Changed Arguments', { changedArguments: '{"":{}}' }, DECISION],
		['State', { state: '[1]' }],
		['Context', { context: '"u"' }],
		['ID" in "IDs', rowOf('fileContext', 'handbook.pdf')],
		['ID" in "IDs', rowOf('fileContext', [[PROJECT_ID]])],
		['ID" in "IDs', rowOf('project', `${ENVIRONMENT_ID},${PROJECT_ID}`)],
		['JSON Body', { bodyMode: 'json', jsonBody: '{' }],
		['JSON Body', { bodyMode: 'json', jsonBody: '' }],
		['JSON Body', { bodyMode: 'json', jsonBody: '[]' }],
	])('is told by its field "%s": %j', (name, options, given = { message: 'Hi' }) => {
		const said = refusal({ ...given, options }, given === DECISION ? 'decision' : 'message');
		expect(said).toMatch(new RegExp(`^"${name}".* must .*\\[item 3\\]$`));
	});
});
