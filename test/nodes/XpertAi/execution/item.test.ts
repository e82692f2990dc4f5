import { NodeApiError, NodeOperationError } from 'n8n-workflow';
import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod';

import { optionsField } from '../../../../nodes/XpertAi/execution/fields';
import { knowledgebase } from '../../../../nodes/XpertAi/payloads/knowledgebase';
import { toNodeApiError } from '../../../../nodes/XpertAi/transport/failure';
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
		itemOf({ all: raw }, { fields: [{ ...SWITCH, default: initial }] }).boolean('all');
	const limitOf = (parameters: object) =>
		itemOf({ ...parameters }, { fields: [LIMIT] }).setting('limit', z.number().int().min(1));
	const idOf = (threadId: unknown) => itemOf({ threadId }, { fields: [THREAD] }).id('threadId');

	it.each<[unknown, unknown]>([
		[limitOf({ limit: 5 }), 5],
		[limitOf({ limit: '5' }), 5],
		[limitOf({}), 50],
		[all(true, false), true],
		[all('true', false), true],
		[all('false', true), false],
		[all(undefined, true), true],
		[all(null, false), false],
		[idOf('  t-1\n'), 't-1'],
		[idOf(17), '17'],
		[idOf(locator(' t-1 ')), 't-1'],
		[idOf(locator(5)), '5'],
		[idOf('any text/with ? marks'), 'any text/with ? marks'],
		[idOf(`https://xpert.example/pages/${ID}/documents`), ID],
		[idOf('...'), '...'],
		[idOf('😀'), '😀'],
		[itemOf({}, { fields: [optionsField([TIMEOUT])] }).setting('options.timeout', z.number()), 120],
	])('%# is %j', (value, expected) => expect(value).toBe(expected));

	it.each(['maybe', '', 7, ['true'], {}])('Return All %j is refused', (raw) => {
		const { message } = thrownBy(() => all(raw, false));
		expect(message).toMatch(/^"Return All" must be true or false, but is /);
	});

	it.each([0, 'many', ''])('Limit %j is refused', (limit) => {
		expect(thrownBy(() => limitOf({ limit })).message).toMatch(/^"Limit" must be /);
	});

	it.each(['Support Docs', '335ccdfa-d2bb'])('Knowledgebase "%s" is refused', (knowledgebaseId) => {
		const fields = [parameter('string', 'knowledgebaseId', 'Knowledgebase')];
		const item = itemOf({ knowledgebaseId }, { fields, index: 1 });
		expect(thrownBy(() => item.id('knowledgebaseId')).message).toBe(
			`"Knowledgebase" must be an ID, but is "${knowledgebaseId}" [item 1]`,
		);
	});

	const EMPTY = ['', ' \n', null, undefined, locator(''), locator(null)];
	const NO_ID = ['.', ' .. ', 'a\ud800b', '\udc00', 'undefined', 'Invalid DateTime'];
	it.each<[unknown, string]>([
		...EMPTY.map((raw) => [raw, 'must not be empty'] as [unknown, string]),
		...[...NO_ID, '[object Promise]'].map((raw) => [raw, 'must be an ID, but'] as [string, string]),
		['https://xpert.example/settings', 'must be an ID, but is'],
		...[{ id: 'x' }, ['x'], true].map((raw) => [raw, 'must be text'] as [unknown, string]),
	])('Thread %j is refused: %s', (raw, rule) => {
		const { message } = thrownBy(() => idOf(raw));
		expect(message).toContain(`"Thread" ${rule}`);
		expect(message).not.toMatch(EMPTY_WORDS);
	});

	it('that is required is refused where its expression gives nothing', () => {
		const fields = [{ ...parameter('string', 'name', 'Name'), required: true }];
		const getNode = () => ({ ...node, parameters: { name: '={{ $json.nope }}' } });
		const given = itemOf({ name: '' }, { fields, methods: { getNode } });
		expect(thrownBy(() => given.parameter('name')).message).toBe(
			'"Name" is empty: its expression gave nothing for this item',
		);
		expect(itemOf({ name: '' }, { fields }).parameter('name')).toBe('');
	});

	it('is named after its own field', () => {
		const inner = parameter('number', 'limit', 'Inner');
		const item = itemOf(
			{ options: { timeout: 'long' } },
			{ fields: [optionsField([inner, TIMEOUT]), LIMIT] },
		);
		expect(['limit', 'options.limit', 'options.other'].map((name) => item.labelOf(name))).toEqual([
			...['Limit', 'Inner', 'options.other'],
		]);
		expect(thrownBy(() => item.setting('options.timeout', z.number())).message).toBe(
			'"Timeout (Seconds)" must be a number, but is "long"',
		);
	});
});

describe('a binary field', () => {
	const binary = {
		data: { data: '', mimeType: '', fileName: 'a.pdf' },
		other: { data: '', mimeType: 'x/y' },
	};
	const fields = [parameter('string', 'file', 'Input Binary Field')];
	const named = (file: unknown, has: object = { binary }) => {
		const getInputData = () => [{ json: {}, ...has }];
		return itemOf({ file }, { fields, methods: { getInputData } });
	};

	it('is found by its name, with a type', () => {
		expect(named(' data ').binary('file')).toEqual({
			property: 'data',
			binary: { ...binary.data, mimeType: 'application/pdf' },
			parameter: 'Input Binary Field',
		});
		const both = named('other, data,other').binaries('file');
		expect(both.map(({ property }) => property)).toEqual(['other', 'data']);
		expect(named('').binaries('file')).toEqual([]);
	});

	it.each(['none', 'constructor', '__proto__', 'toString'])('is not found by "%s"', (name) => {
		const words = `"Input Binary Field" names "${name}", but the item has`;
		for (const read of ['binary', 'binaries'] as const) {
			expect(thrownBy(() => named(name)[read]('file')).message).toBe(`${words} only data, other`);
			expect(thrownBy(() => named(name, {})[read]('file')).message).toBe(
				`${words} no binary field`,
			);
		}
	});
});

describe('a value that is refused', () => {
	const item = itemOf({}, { index: 2 });

	it('ends the item with an error that says how to go on', () => {
		const error = thrownBy(() => item.check(knowledgebase, {}, {})) as NodeOperationError;
		expect(error).toBeInstanceOf(NodeOperationError);
		expect(error.message).toBe('"JSON Body" at name is missing [item 2]');
		expect(error.description).toContain('Nothing was sent for this item');
		expect(`${error.message} ${error.description}`).not.toMatch(EMPTY_WORDS);
		expect(error.context.itemIndex).toBe(2);
	});

	it.each(['ECONNREFUSED', 'enoent', 'ETIMEDOUT'])(
		'is named whole, though n8n rewords %s',
		(value) => {
			const flaw = { field: '"Name"', rule: 'must be shorter', value };
			expect(thrownBy(() => item.refuse(flaw)).message).toBe(
				`"Name" must be shorter, but is "${value}" [item 2]`,
			);
		},
	);
});

describe('the error of a request', () => {
	const reason = 'The requested record was not found';
	const missing = { ...failure, missing: 'record' as const, reason };

	it('is of the API, and names the IDs that were sent', () => {
		const item = itemOf({ threadId: '1' }, { index: 4, fields: [THREAD] });
		const error = item.apiError(missing, { ids: [{ field: '"Run ID"', id: '2' }] });
		expect(error).toBeInstanceOf(NodeApiError);
		expect(error.context.itemIndex).toBe(4);
		expect(error.description).toContain('Check "Thread" and "Run ID".');
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
		[new NodeOperationError(node, 'no'), 3],
		[toNodeApiError(failure, { node, itemIndex: 1 }), 1],
		[new NodeOperationError(node, 'no', { itemIndex: 0 }), 0],
	])('stays itself where it is an error of n8n (%#), of item %i', (error, index) => {
		expect(item.asError(error)).toBe(error);
		expect(error.context.itemIndex).toBe(index);
	});

	it.each([
		[new TypeError('x is not a function'), 'x is not a function'],
		['text', 'text'],
		[undefined, 'undefined'],
	])('becomes an error of the node: %p', (caught, message) => {
		const error = item.asError(caught);
		expect(error).toBeInstanceOf(NodeOperationError);
		expect(error).toMatchObject({ message, node, context: { itemIndex: 3 } });
	});
});
