import get from 'lodash/get';

import { runBodyOf } from '../../../../../../nodes/XpertAi/operations/thread/run/runRequest';
import {
	decideFields,
	retryRunFields,
	runFields,
} from '../../../../../../nodes/XpertAi/operations/thread/run/fields';
import type { RunKind } from '../../../../../../nodes/XpertAi/runs/run';
import { itemOf } from '../../../../support/context';
import { thrownBy } from '../../../../support/thrown';

const ASSISTANT = {
	assistantId: { __rl: true, mode: 'list', value: 'd0000000-0000-4000-8000-000000000001' },
};
const FIELDS = { message: runFields, decision: decideFields, retry: retryRunFields };
const body = (parameters: Record<string, unknown>, kind: RunKind = 'message') =>
	runBodyOf(itemOf({ ...ASSISTANT, ...parameters }, { fields: FIELDS[kind], index: 3 }), kind);
const refusal = (parameters: Record<string, unknown>, kind?: RunKind) =>
	thrownBy(() => body(parameters, kind)).message;

const DECISION = { decision: 'confirm' };

describe('the body of a run', () => {
	it('holds the message', () => {
		expect(body({ message: 'Hi' })).toEqual({
			assistant_id: 'd0000000-0000-4000-8000-000000000001',
			input: { action: 'send', message: { input: { input: 'Hi' } } },
		});
	});

	it.each<[RunKind, object, object]>([
		['message', { context: { user: 'u' } }, { context: { user: 'u' } }],
		['message', { input: { environmentId: 'e' } }, { input: { environmentId: 'e' } }],
		['message', { input: { state: { order: 7 } } }, { input: { state: { order: 7 } } }],
		['decision', { input: { decision: { payload: 1 } } }, { input: { decision: { payload: 1 } } }],
		['retry', { input: { source: { a: 1 } } }, { input: { action: 'retry', source: { a: 1 } } }],
	])('of a %s holds what Additional Fields (JSON) add: %j', (kind, additionalFieldsJson, sent) => {
		const given = { ...DECISION, message: 'Hi', options: { additionalFieldsJson } };
		expect(body(given, kind)).toMatchObject(sent);
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
		expect(get(body({ decision }, 'decision'), 'input.decision')).toEqual({ type });
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
		['Changed Arguments', { changedArguments: '[1]' }, DECISION],
		['Changed Arguments', { changedArguments: '{"call_1":20}' }, DECISION],
		['Changed Arguments', { changedArguments: '{"":{}}' }, DECISION],
		['Additional Fields (JSON)', { additionalFieldsJson: '{' }],
		['Additional Fields (JSON)', { additionalFieldsJson: '[]' }],
		['Additional Fields (JSON)', { additionalFieldsJson: '{"context":"u"}' }],
		['Additional Fields (JSON)', { additionalFieldsJson: '{"input":{"state":[1]}}' }],
		['Additional Fields (JSON)', { additionalFieldsJson: '{"input":{"message":1}}' }],
	])('is told by its field "%s": %j', (name, options, given = { message: 'Hi' }) => {
		const said = refusal({ ...given, options }, given === DECISION ? 'decision' : 'message');
		expect(said).toContain(`"${name}"`);
		expect(said).toMatch(/ must .*\[item 3\]$/);
	});
});
