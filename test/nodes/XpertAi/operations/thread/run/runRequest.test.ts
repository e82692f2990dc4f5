import { get } from 'lodash';
import { NodeHelpers } from 'n8n-workflow';
import type { IBinaryData, IDataObject, IExecuteFunctions, INodeParameters } from 'n8n-workflow';

import { XpertAi } from 'nodes/XpertAi/XpertAi.node';
import { Item } from 'nodes/XpertAi/execution/item';
import {
	decideFields,
	retryRunFields,
	askAndWaitFields,
} from 'nodes/XpertAi/operations/thread/run/fields';
import { startFields } from 'nodes/XpertAi/operations/thread/run/fields';
import { attachmentsField } from 'nodes/XpertAi/operations/thread/run/optionFields';
import {
	conversationKeyOf,
	readRunInput,
	runBodyOf,
} from 'nodes/XpertAi/operations/thread/run/runRequest';
import { derivedId } from 'nodes/XpertAi/payloads/ids';
import type { RunKind } from 'nodes/XpertAi/runs/runBody';
import { contextWith, itemOf, unconnected } from 'test/nodes/support/context';
import { evaluatingItem } from 'test/nodes/support/evaluatingItem';
import { node } from 'test/nodes/support/node';
import { thrownBy } from 'test/nodes/support/thrown';

const ASSISTANT = {
	assistantId: { __rl: true, mode: 'list', value: 'd0000000-0000-4000-8000-000000000001' },
};
const FIELDS = { message: askAndWaitFields, decision: decideFields, retry: retryRunFields };
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

	it.each<[string, RunKind, object, object]>([
		['the context of a message', 'message', { context: { user: 'u' } }, { context: { user: 'u' } }],
		[
			'the environment of a message',
			'message',
			{ input: { environmentId: 'e' } },
			{ input: { environmentId: 'e' } },
		],
		[
			'the state of a message',
			'message',
			{ input: { state: { order: 7 } } },
			{ input: { state: { order: 7 } } },
		],
		[
			'the payload of a decision',
			'decision',
			{ input: { decision: { payload: 1 } } },
			{ input: { decision: { payload: 1 } } },
		],
		[
			'the source of a retry',
			'retry',
			{ input: { source: { a: 1 } } },
			{ input: { action: 'retry', source: { a: 1 } } },
		],
	])('holds what Additional Fields (JSON) add: %s', (_, kind, additionalFieldsJson, sent) => {
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
		['where there are none', 'confirm', '{}'],
		['where it rejects', 'reject', '{"call_1":{"amount":20}}'],
	])('holds no changed arguments %s', (_, decision, changedArguments) => {
		const sent = body({ decision, options: { changedArguments } }, 'decision');
		expect(sent.input).not.toHaveProperty('patch');
	});

	it.each<[string, unknown[]]>([
		['confirm', ['confirm', 'Confirm', ' CONFIRM\n', true, 'true', 'True', 'Yes']],
		['reject', ['reject', 'Reject', 'REJECT', false, 'false', 'FALSE', 'no']],
	])('takes the word, a boolean, an answer of a form and either case for %s', (type, given) => {
		for (const decision of given)
			expect(get(body({ decision }, 'decision'), 'input.decision')).toEqual({ type });
	});

	it.each([
		['perhaps', 'perhaps'],
		['ok', 'ok'],
		['a number', 7],
		['a list', ['confirm']],
		['an object', { type: 'confirm' }],
	])('refuses any other decision in one wording: %s', (_, decision) =>
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
	it.each<[string, string, Record<string, unknown>, RunKind]>([
		['an empty message', '"Message" is missing', { message: '' }, 'message'],
		['no message', '"Message" is missing', { message: undefined }, 'message'],
		['a message of blanks', '"Message" is missing', { message: ' \n\t\u00a0' }, 'message'],
		['an empty decision', '"Decision" is missing', { decision: '' }, 'decision'],
	])('is told by its field: %s', (_, words, parameters, kind) => {
		expect(refusal(parameters, kind)).toBe(`${words} [item 3]`);
	});

	it('is told as a missing assistant', () => {
		const assistantId = { __rl: true, mode: 'id', value: '' };
		const words = /^"Assistant" (is missing|must not be empty) \[item 3\]$/;
		expect(refusal({ assistantId, message: 'Hi' })).toMatch(words);
	});

	it.each<[string, string, Record<string, unknown>, object?]>([
		['arguments that are a list', 'Changed Arguments', { changedArguments: '[1]' }, DECISION],
		[
			'arguments of a call that are a number',
			'Changed Arguments',
			{ changedArguments: '{"call_1":20}' },
			DECISION,
		],
		['arguments of no call', 'Changed Arguments', { changedArguments: '{"":{}}' }, DECISION],
		['JSON that is not closed', 'Additional Fields (JSON)', { additionalFieldsJson: '{' }],
		['JSON that is a list', 'Additional Fields (JSON)', { additionalFieldsJson: '[]' }],
		[
			'a context that is a text',
			'Additional Fields (JSON)',
			{ additionalFieldsJson: '{"context":"u"}' },
		],
		[
			'a state that is a list',
			'Additional Fields (JSON)',
			{ additionalFieldsJson: '{"input":{"state":[1]}}' },
		],
		[
			'a message that is a number',
			'Additional Fields (JSON)',
			{ additionalFieldsJson: '{"input":{"message":1}}' },
		],
	])('is told by its field: %s', (_, name, options, given = { message: 'Hi' }) => {
		const said = refusal({ ...given, options }, given === DECISION ? 'decision' : 'message');
		expect(said).toContain(`"${name}"`);
		expect(said).toMatch(/ must .*\[item 3\]$/);
	});

	it.each<[string, RunKind, string, object]>([
		['what a message does', 'message', 'input.action', { action: 'retry' }],
		['what another answer does', 'retry', 'input.action', { action: 'send' }],
		['what a decision does', 'decision', 'input.action', { action: 'send' }],
		['whom a decision is for', 'decision', 'input.target', { target: { executionId: 'e' } }],
		['what is decided', 'decision', 'input.decision.type', { decision: { type: 'reject' } }],
	])('is what Additional Fields (JSON) would change: %s', (_, kind, path, input) => {
		const given = { ...DECISION, message: 'Hi', options: { additionalFieldsJson: { input } } };
		const words = `at ${path} is what the node sets itself: leave it out [item 3]`;
		expect(refusal(given, kind)).toBe(`"Additional Fields (JSON)" ${words}`);
	});
});

const { description } = new XpertAi();

const file = (fileName: string): IBinaryData => ({ data: '', mimeType: 'text/plain', fileName });
const BINARY = { data: file('a.txt'), attachment_0: file('b.txt'), '7': file('c.txt') };

/** An item with three files. */
function itemWith(
	parameters: Record<string, unknown>,
	binary: Record<string, IBinaryData> = BINARY,
): Item {
	const all = {
		assistantId: 'd0000000-0000-4000-8000-000000000001',
		threadSource: 'existing',
		threadId: 't1',
		message: 'Hi',
		...parameters,
	};
	const getNodeParameter = (name: string, _itemIndex: number, fallback?: unknown) =>
		get(all, name, fallback) as unknown;
	const context = contextWith({
		getNode: () => ({ ...node, parameters: all as INodeParameters }),
		getNodeParameter: getNodeParameter as IExecuteFunctions['getNodeParameter'],
		getInputData: () => [{ json: {} }, { json: {}, binary }],
	});
	return new Item(context, 1, askAndWaitFields, unconnected);
}

const requestOf = (...given: Parameters<typeof itemWith>) =>
	readRunInput(itemWith(...given), 'message', true);

const named = (parameters: Record<string, unknown>) =>
	requestOf(parameters).attachments.map(({ property }) => property);
const attachmentRefusal = (attachments: unknown, binary?: Record<string, IBinaryData>) =>
	thrownBy(() => requestOf({ options: { attachments } }, binary)).message;

describe('the place of a run', () => {
	const assistantId = 'd0000000-0000-4000-8000-000000000001';

	it.each([
		['existing', {}, { conversationKind: 'existing', threadId: 't1' }],
		['new', {}, { conversationKind: 'new', threadId: undefined }],
		[
			'key',
			{ conversationKey: 'k' },
			{ conversationKind: 'key', threadId: derivedId(assistantId, 'k') },
		],
	])('with %s', (threadSource, parameters, place) => {
		const { conversationKind, threadOrKeyId: threadId } = requestOf({
			threadSource,
			...parameters,
		});
		expect({ conversationKind, threadId }).toEqual(place);
	});

	it('of a decision is the thread that is named, and no file goes with it', () => {
		const given = { threadId: 't1', decision: 'confirm', options: { attachments: 'data' } };
		const item = itemOf(given, { fields: decideFields });
		const {
			conversationKind,
			threadOrKeyId: threadId,
			attachments: files,
		} = readRunInput(item, 'decision', false);
		expect({ conversationKind, threadId, files }).toEqual({
			conversationKind: 'existing',
			threadId: 't1',
			files: [],
		});
	});
});

describe('the files to attach', () => {
	it.each([
		['by a text', 'data', ['data']],
		['by a text with commas and blanks', ' attachment_0 , data,', ['attachment_0', 'data']],
		['by a list', ['data', ' 7 '], ['data', '7']],
		['by a number', 7, ['7']],
		['once each', 'data, data', ['data']],
		['by no empty text', '', []],
		['by no commas alone', ' , ', []],
		['by no empty list', [], []],
		['by no null', null, []],
		['by nothing', undefined, []],
	])('are named %s', (_, attachments, names) => {
		expect(named({ options: { attachments } })).toEqual(names);
	});

	it('are the fields of the item, by the parameter that names them', () => {
		expect(requestOf({ options: { attachments: 'data' } }).attachments).toEqual([
			{ property: 'data', binary: BINARY.data, parameterLabel: 'Attach Files' },
		]);
	});

	it('are none where nothing is said, as with nodes from before there were any', () => {
		expect(named({})).toEqual([]);
	});

	it('are no part of the body before they are uploaded', () => {
		expect(requestOf({ options: { attachments: 'data' } }).body).toEqual({
			assistant_id: 'd0000000-0000-4000-8000-000000000001',
			input: { action: 'send', message: { input: { input: 'Hi' } } },
		});
	});
});

describe('the parameter that names them', () => {
	const shownIn = (name: string) =>
		NodeHelpers.displayParameter({}, attachmentsField, node, { ...description, name });

	it('is not shown to an agent, whose calls have no files', () => {
		expect(shownIn('xpertAi')).toBe(true);
		expect(shownIn('xpertAiTool')).toBe(false);
	});
});

describe('what names no file', () => {
	it.each([
		['one', 'scan', BINARY, '"scan", but the item has only 7, data, attachment_0'],
		['one of two', 'data, scan', BINARY, '"scan", but the item has only 7, data, attachment_0'],
		[
			'what every object inherits',
			'toString',
			BINARY,
			'"toString", but the item has only 7, data, attachment_0',
		],
		['one of none', 'data', {}, '"data", but the item has no binary field'],
	])('is refused with the names there are: %s', (_, attachments, binary, says) => {
		expect(attachmentRefusal(attachments, binary)).toBe(`"Attach Files" names ${says} [item 1]`);
	});

	it.each([
		['a file', { mimeType: 'a/b' }],
		['a file in a list', ['data', { mimeType: 'a/b' }]],
		['an empty name in a list', ['data', '']],
	])('is refused as what it is: %s', (_, attachments) => {
		expect(attachmentRefusal(attachments)).toMatch(/^"Attach Files".* must .*\[item 1\]$/);
	});
});

describe('a key', () => {
	it('that people share has a sign in each part, and no word for a missing value', () => {
		const read = (conversationKey: string, json: IDataObject) => () =>
			conversationKeyOf(evaluatingItem({ conversationKey }, json, startFields));
		expect(read('={{ $json.a }}:{{ $json.b }}', { a: 'a', b: 1 })()).toBe('a:1');
		expect(thrownBy(read('={{ $json.a }}:{{ $json.b }}', { a: 'a', b: '' })).message).toContain(
			'lacks a part: {{ $json.b }} gave nothing',
		);
		expect(thrownBy(read('={{ $json.a }}', { a: 'a-null' })).message).toContain('holds "null"');
	});
});
