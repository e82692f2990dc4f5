import { type INodeProperties, NodeApiError, NodeOperationError } from 'n8n-workflow';
import { apiError } from 'nodes/XpertAi/execution/apiError';
import { panelGroupField, idField, optionsField } from 'nodes/XpertAi/execution/fieldBuilders';
import { checkedKey, keyIfGiven, keyOf } from 'nodes/XpertAi/execution/identityFields';
import { textIfGiven } from 'nodes/XpertAi/execution/parameterReader';
import { newKnowledgebaseSchema } from 'nodes/XpertAi/payloads/knowledgebase';
import { z } from 'zod';

import { itemOf, unconnected } from '../../support/context';
import { node } from '../../support/node';
import { EMPTY_WORDS, thrownBy } from '../../support/thrown';

const failure = { kind: 'status' as const, status: 404, method: 'GET', path: '/api/ai/threads/1' };

/** A parameter of an operation. */
const parameter = (
	type: INodeProperties['type'],
	name: string,
	displayName: string,
	initial: INodeProperties['default'] = '',
): INodeProperties => ({ displayName, name, type, default: initial });

const THREAD = parameter('resourceLocator', 'threadId', 'Thread');
const LIMIT = parameter('number', 'limit', 'Limit', 50);
const SWITCH = parameter('boolean', 'all', 'Return All');
const TIMEOUT = parameter('number', 'timeout', 'Timeout (Seconds)', 120);
const ID = '335ccdfa-d2bb-4f15-9f4a-2b180f46d737';
const locator = (value: unknown) => ({ __rl: true, mode: 'id', value });

describe('a parameter', () => {
	const all = (raw: unknown, initial: boolean) =>
		itemOf({ all: raw }, { fields: [{ ...SWITCH, default: initial }] }).setting('all', z.boolean());
	const limitOf = (parameters: object) =>
		itemOf({ ...parameters }, { fields: [LIMIT] }).setting('limit', z.number().int().min(1));
	const idOf = (threadId: unknown) =>
		itemOf({ threadId }, { fields: [THREAD] }).filledText('threadId');

	it.each<[string, unknown, unknown]>([
		['Limit is a number', limitOf({ limit: 5 }), 5],
		['Limit is a number that is given as text', limitOf({ limit: '5' }), 5],
		['Limit is 50 where it is not given', limitOf({}), 50],
		['Limit is 50 where it is empty', limitOf({ limit: '' }), 50],
		['Return All is on', all(true, false), true],
		['Return All is on as text', all('true', false), true],
		['Return All is off as text', all('false', true), false],
		['Return All is its default where it is not given', all(undefined, true), true],
		['Return All is its default where it is null', all(null, false), false],
		['an ID is trimmed', idOf('  t-1\n'), 't-1'],
		['an ID may be a number', idOf(17), '17'],
		['an ID is that of a picker', idOf(locator(' t-1 ')), 't-1'],
		['an ID of a picker may be a number', idOf(locator(5)), '5'],
		['an ID may be any text', idOf('any text/with ? marks'), 'any text/with ? marks'],
		['an ID is taken out of an address', idOf(`https://xpert.example/pages/${ID}/documents`), ID],
		[
			'an ID is not taken out of a sentence',
			idOf(`see https://xpert.example/${ID}`),
			`see https://xpert.example/${ID}`,
		],
		['an ID may be dots', idOf('...'), '...'],
		['an ID may be an emoji', idOf('😀'), '😀'],
		[
			'a setting is the default of its field',
			itemOf({}, { fields: [optionsField([TIMEOUT])] }).setting('options.timeout', z.number()),
			120,
		],
	])('%s', (_, value, expected) => expect(value).toBe(expected));

	it.each([
		['a word', 'maybe'],
		['a number', 7],
		['a list', ['true']],
		['an object', {}],
	])('Return All is refused as %s', (_, raw) => {
		const { message } = thrownBy(() => all(raw, false));
		expect(message).toMatch(/^"Return All" must be true or false, but is /);
	});

	it.each([0, 'many'])('Limit is refused as %s', (limit) => {
		expect(thrownBy(() => limitOf({ limit })).message).toMatch(/^"Limit" must be /);
	});

	it.each(['Support Docs', '335ccdfa-d2bb'])('Knowledgebase "%s" is refused', (knowledgebaseId) => {
		const fields = [parameter('resourceLocator', 'knowledgebaseId', 'Knowledgebase')];
		const item = itemOf({ knowledgebaseId }, { fields, index: 1 });
		expect(thrownBy(() => item.filledText('knowledgebaseId')).message).toBe(
			`"Knowledgebase" must be a UUID such as 123e4567-e89b-42d3-a456-426614174000, but is "${knowledgebaseId}" [item 1]`,
		);
	});

	it('the one of several IDs that is none is named', () => {
		const documentIds = `${ID}, no id, ${ID}`;
		const item = itemOf({ documentIds }, { fields: [parameter('string', 'documentIds', 'IDs')] });
		expect(thrownBy(() => item.ids('documentIds')).message).toMatch(
			/^"IDs" must be a UUID such as .*, but is "no id"$/,
		);
	});

	it.each<[string, unknown]>([
		['as text', ID.toUpperCase()],
		['in an address', `https://xpert.example/threads/${ID.toUpperCase()}`],
		['chosen in a list', locator(ID.toUpperCase())],
	])('an ID in capital letters %s is read in small ones', (_, threadId) => {
		expect(idOf(threadId)).toBe(ID);
	});

	const EMPTY = ['', ' \n', null, undefined, locator(''), locator(null)];
	const NO_ID = ['.', ' .. ', 'a\ud800b', '\udc00', 'undefined', 'Invalid DateTime'];
	it.each<[string, string, unknown[]]>([
		['is empty', 'must not be empty', EMPTY],
		['is no ID', 'must be an ID, but', [...NO_ID, '[object Promise]']],
		['is an address without one', 'must be an ID, but is', ['https://xpert.example/settings']],
		['is no text', 'must be text', [{ id: 'x' }, ['x'], true]],
	])('an ID is refused where it %s', (_, rule, all) => {
		for (const raw of all) {
			const { message } = thrownBy(() => idOf(raw));
			expect(message).toContain(`"Thread" ${rule}`);
			expect(message).not.toMatch(EMPTY_WORDS);
		}
	});

	it('is not replaced by the expression that is its default', () => {
		const initial = '={{ $json.threadId }}';
		const fields = [
			{ ...THREAD, default: { mode: 'id', value: initial } },
			{ ...parameter('string', 'key', 'Key'), default: initial },
		];
		const item = itemOf({ threadId: locator(''), key: '' }, { fields });
		expect(thrownBy(() => item.filledText('threadId')).message).toBe('"Thread" must not be empty');
		expect(thrownBy(() => keyOf(item, 'key', { isShared: true })).message).toBe(
			'"Key" must not be empty',
		);
	});

	it('that is required is refused where its expression gives nothing', () => {
		const fields = [{ ...parameter('string', 'name', 'Name'), required: true }];
		const getNode = () => ({ ...node, parameters: { name: '={{ $json.nope }}' } });
		const given = itemOf({ name: '' }, { fields, methods: { getNode } });
		expect(thrownBy(() => given.parameter('name')).message).toBe(
			'"Name" is empty: its expression gave nothing for this item',
		);
		expect(itemOf({ name: '' }, { fields }).parameter('name')).toBe('');
		expect(itemOf({ name: '' }, { methods: { getNode } }).parameter('name')).toBe('');
	});

	it.each([
		['a key', keyIfGiven],
		['a text', textIfGiven],
	])('that may not be empty is refused where its expression gives nothing: %s', (_, read) => {
		const getNode = () => ({ ...node, parameters: { name: '={{ $json.nope }}' } });
		const { message } = thrownBy(() =>
			read(itemOf({ name: '' }, { methods: { getNode } }), 'name'),
		);
		expect(message).toBe('"name" is empty: its expression gave nothing for this item');
		expect(read(itemOf({ name: 'a' }), 'name')).toBe('a');
	});

	it('with a body is read as JSON', () => {
		const read = (jsonBody: string) =>
			itemOf({ jsonBody }, { fields: [parameter('json', 'jsonBody', 'Body', '[2]')] }).setting(
				'jsonBody',
				z.array(z.number()),
				'',
			);
		expect(read('[1]')).toEqual([1]);
		for (const nothing of ['', ' '])
			expect(thrownBy(() => read(nothing)).message).toBe('"Body" is missing');
		expect(thrownBy(() => read('["a"]')).message).toContain('"Body" at [0] must be a number');
	});

	it('is named after its own field', () => {
		const inner = parameter('number', 'limit', 'Inner');
		const item = itemOf(
			{ options: { timeout: 'long' } },
			{ fields: [optionsField([inner, TIMEOUT]), LIMIT] },
		);
		expect(['limit', 'options.limit', 'options.other'].map((name) => item.labelOf(name))).toEqual([
			...['Limit', 'Inner', 'Options'],
		]);
		expect(thrownBy(() => item.setting('options.timeout', z.number())).message).toBe(
			'"Timeout (Seconds)" in "Options" must be a number, but is "long"',
		);
	});
});

it('a key that may be left out is in canonical form', () => {
	const fields = [parameter('string', 'name', 'name')];
	const keyOf = (name: unknown) => keyIfGiven(itemOf({ name }, { fields }), 'name');
	expect([undefined, ' ', '=', 5, ' e\u0301 ', 'a-undefined'].map(keyOf)).toEqual([
		...[undefined, undefined, undefined, '5', '\u00e9', 'a-undefined'],
	]);
	expect(thrownBy(() => keyOf(2 ** 60)).message).toContain('so large a number has lost its last');
	expect(checkedKey(itemOf({}), 'a-undefined', 'Key')).toBe('a-undefined');
	expect(thrownBy(() => keyOf('undefined')).message).toMatch(/^"name" holds /);
});

describe('a value that is refused', () => {
	const item = itemOf({}, { index: 2 });

	it('ends the item with an error that says how to go on', () => {
		const error = thrownBy(() => item.check(newKnowledgebaseSchema, {}, {})) as NodeOperationError;
		expect(error).toBeInstanceOf(NodeOperationError);
		expect(error.message).toBe('"JSON Body" at name is missing [item 2]');
		expect(error.description).toContain('Nothing was sent for this item');
		expect(`${error.message} ${error.description}`).not.toMatch(EMPTY_WORDS);
		expect(error.context.itemIndex).toBe(2);
	});

	it.each(['ECONNREFUSED', 'enoent', 'ETIMEDOUT'])(
		'is named whole, though n8n rewords %s',
		(value) => {
			const issue = { label: '"Name"', issue: 'must be shorter', value };
			expect(thrownBy(() => item.throwIssue(issue)).message).toBe(
				`"Name" must be shorter, but is "${value}" [item 2]`,
			);
		},
	);
});

describe('the error of a request', () => {
	const reason = 'The requested record was not found';
	const missing = { ...failure, missing: 'record' as const, reason };

	it('is of the API, and names the IDs that were sent', () => {
		const more = ['otherId', 'runId', 'emptyId'].map((name) =>
			parameter('resourceLocator', name, name),
		);
		const parameters = { threadId: '1', otherId: '2', runId: '3', limit: '1' };
		const fields = [THREAD, ...more, LIMIT];
		const item = itemOf(parameters, { index: 4, fields });
		const path = `${failure.path}/runs/3`;
		const error = item.apiError({ ...missing, path }, { ids: [{ label: '"Body ID"', id: '4' }] });
		expect(error).toBeInstanceOf(NodeApiError);
		expect(error.context.itemIndex).toBe(4);
		expect(error.description).toContain('Check "runId" and "Thread" and "Body ID".');
		expect(item.apiError(missing).message).toBe('Thread 1 was not found');
	});

	it('names IDs in collections as the panel does', () => {
		const [xpertId, runId] = [idField('xpertId', 'Assistant ID'), idField('runId', 'Run ID')];
		const fields = [panelGroupField('filters', [xpertId]), optionsField([runId, TIMEOUT])];
		const parameters = { filters: { xpertId: '2' }, options: { runId: '3', timeout: 3 } };
		const { message } = itemOf(parameters, { fields }).apiError(
			missing,
			{},
			'{"xpertId":"2","id":"3"}',
		);
		expect(message).toBe('Run ID in Options 3 or Assistant ID 2 was not found');
	});

	it('does not depend on a hidden field, whose expression may be broken', () => {
		const broken = () => {
			throw new NodeOperationError(node, 'There is no node "Gone"');
		};
		for (const read of [broken, () => '\ud800', () => ({ deep: [] })]) {
			const item = itemOf({}, { fields: [THREAD], methods: { getNodeParameter: read as never } });
			const { message } = item.apiError({ ...failure, reason: 'No' });
			expect(message).toBe('The server answered 404: No');
		}
	});
});

it('an item with another credential than the first is refused', () => {
	const [first, same] = [itemOf({}), itemOf({}, { index: 1 })];
	const other = itemOf({}, { index: 1, connection: { ...unconnected } });
	expect(() => same.checkSameCredential(first)).not.toThrow();
	expect(() => other.checkSameCredential(first)).toThrow('another server or token for this item');
});

describe('what was caught', () => {
	const item = itemOf({}, { index: 3 });

	it.each([
		['without an item, which it gets', new NodeOperationError(node, 'no'), 3],
		['of a server', apiError(failure, { node, itemIndex: 1 }), 1],
		['of another item', new NodeOperationError(node, 'no', { itemIndex: 0 }), 0],
	])('stays itself where it is an error of n8n, %s', (_, error, index) => {
		expect(item.asError(error)).toBe(error);
		expect(error.context.itemIndex).toBe(index);
	});

	it.each([
		['another error', new TypeError('x is not a function'), 'x is not a function'],
		['a text', 'text', 'text'],
		['nothing', undefined, 'undefined'],
	])('becomes an error of the node: %s', (_, caught, message) => {
		const error = item.asError(caught);
		expect(error).toBeInstanceOf(NodeOperationError);
		expect(error).toMatchObject({ message, node, context: { itemIndex: 3 } });
	});
});
