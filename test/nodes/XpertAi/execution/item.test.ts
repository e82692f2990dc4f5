import fc from 'fast-check';
import { NodeApiError, NodeOperationError } from 'n8n-workflow';
import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod';

import { Item } from '../../../../nodes/XpertAi/execution/item';
import { optionsField } from '../../../../nodes/XpertAi/execution/fields';
import { knowledgebase } from '../../../../nodes/XpertAi/payloads/knowledgebase';
import { toNodeApiError } from '../../../../nodes/XpertAi/transport/failure';
import { spellingsOf } from '../../../../nodes/XpertAi/transport/sanitize';
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

describe('a number parameter', () => {
	const schema = z.number().int().min(1);
	const fields = [parameter('number', 'limit', 'Limit', 50)];

	it.each([
		[{ limit: 5 }, 5],
		[{ limit: '5' }, 5],
		[{}, 50],
	])('in %j is %i', (parameters, value) => {
		expect(itemOf(parameters, { fields }).setting('limit', schema)).toBe(value);
	});

	it.each([
		[0, 'must be at least 1'],
		[2.5, 'must be a whole number'],
		['many', 'must be a number'],
		['', 'must be a number'],
	])('%j is refused by its name', (limit, demand) => {
		const { message } = thrownBy(() =>
			itemOf({ limit }, { fields, index: 1 }).setting('limit', schema),
		);
		expect(message).toContain(`"Limit" ${demand}`);
		expect(message).toContain('[item 1]');
	});
});

describe('a switch', () => {
	const read = (all: unknown, byDefault = false) => {
		const fields = [parameter('boolean', 'all', 'Return All', byDefault)];
		return itemOf({ all }, { fields, index: 1 }).boolean('all');
	};

	it.each([
		[true, true],
		[false, false],
		['true', true],
		['false', false],
	])('given as %j is %s', (raw, value) => expect(read(raw, !value)).toBe(value));

	it.each([undefined, null])('that an expression gives %j stays as it is by default', (raw) => {
		expect([read(raw, true), read(raw, false)]).toEqual([true, false]);
	});

	it.each(['maybe', '', 7, ['true'], {}])('given as %j is refused by its name', (raw) => {
		const { message } = thrownBy(() => read(raw));
		expect(message).toMatch(/^"Return All" must be true or false, but is .* \[item 1\]$/);
	});
});

describe('an id', () => {
	const fields = [parameter('resourceLocator', 'threadId', 'Thread')];
	const idOf = (threadId: unknown) => itemOf({ threadId }, { fields, index: 2 }).id('threadId');

	it.each([
		['t-1', 't-1'],
		['  t-1\n', 't-1'],
		[17, '17'],
		[{ __rl: true, mode: 'id', value: ' t-1 ' }, 't-1'],
		[{ __rl: true, mode: 'list', value: 5 }, '5'],
		['any text/with ? marks', 'any text/with ? marks'],
		['...', '...'],
		['😀', '😀'],
	])('%j is %s', (raw, id) => expect(idOf(raw)).toBe(id));

	it.each([
		['', 'must not be empty'],
		[' \n', 'must not be empty'],
		[null, 'must not be empty'],
		[undefined, 'must not be empty'],
		[{ __rl: true, mode: 'id', value: '' }, 'must not be empty'],
		[{ __rl: true, mode: 'id', value: null }, 'must not be empty'],
		['.', 'must be an ID'],
		[' .. ', 'must be an ID'],
		['a\ud800b', 'must be an ID'],
		['\udc00', 'must be an ID'],
		['undefined', 'must be an ID'],
		['Invalid DateTime', 'must be an ID'],
		['[object Promise]', 'must be an ID'],
		['https://xpert.example/settings', 'must be an ID, or the address of a page that has it'],
		[{ id: 'x' }, 'must be text'],
		[['x'], 'must be text'],
		[true, 'must be text'],
	])('%j is refused', (raw, demand) => {
		const { message } = thrownBy(() => idOf(raw));
		expect(message).toMatch(new RegExp(`^"Thread" ${demand}.* \\[item 2\\]$`));
		expect(message).not.toMatch(EMPTY_WORDS);
	});
});

describe('a parameter in a collection', () => {
	const own = parameter('number', 'timeout', 'Timeout (Seconds)', 120);
	const fields = [optionsField([own]), parameter('number', 'limit', 'Limit', 50)];

	it('has the name and the default of its own field', () => {
		expect(itemOf({}, { fields }).setting('options.timeout', z.number())).toBe(120);
		const bad = itemOf({ options: { timeout: 'long' } }, { fields });
		expect(thrownBy(() => bad.setting('options.timeout', z.number())).message).toBe(
			'"Timeout (Seconds)" must be a number, but is "long"',
		);
	});

	it('comes after a parameter of the same name that is in none', () => {
		const twice = [optionsField([parameter('number', 'limit', 'Inner')]), ...fields];
		expect(itemOf({}, { fields: twice }).labelOf('limit')).toBe('Limit');
		expect(itemOf({}, { fields: twice }).labelOf('options.limit')).toBe('Inner');
	});

	it('keeps the name it was asked by where there is no such field', () => {
		expect(itemOf({}, { fields }).labelOf('options.other')).toBe('options.other');
		expect(itemOf({}).labelOf('other')).toBe('other');
	});
});

describe('a value that is refused', () => {
	const item = itemOf({}, { index: 2 });

	it('ends the item with an error of the node that says how to go on', () => {
		const error = thrownBy(() => item.check(knowledgebase, {}, {}));
		expect(error).toBeInstanceOf(NodeOperationError);
		const { description, message, context } = error as NodeOperationError;
		expect(description).toContain('Nothing was sent for this item');
		expect(`${message} ${description}`).not.toMatch(EMPTY_WORDS);
		expect(context.itemIndex).toBe(2);
	});

	it('is named whole, also where n8n rewords messages that mention a network code', () => {
		fc.assert(
			fc.property(fc.constantFrom('ECONNREFUSED', 'enoent', 'ETIMEDOUT'), (value) => {
				const flaw = { subject: '"Name"', demand: 'must be shorter', value };
				expect(thrownBy(() => item.refuse(flaw)).message).toBe(
					`"Name" must be shorter, but is "${value}" [item 2]`,
				);
			}),
		);
	});
});

describe('the outcome of an item', () => {
	const item = itemOf({}, { index: 4 });

	it('points to the item', () => {
		expect(item.output({ a: 1 })).toEqual({ json: { a: 1 }, pairedItem: { item: 4 } });
		const failed = item.failed(item.operationError('no'), { outcome: 'rejected' });
		expect(failed).toEqual({
			json: { error: 'no', details: { outcome: 'rejected' } },
			pairedItem: { item: 4 },
		});
	});

	it('is an error of the API after a request that failed', () => {
		const ids = [{ subject: '"Thread"', id: '1' }];
		const missing = {
			...failure,
			missing: 'record' as const,
			reason: 'The requested record was not found',
		};
		const error = item.apiError(missing, { ids });
		expect(error).toBeInstanceOf(NodeApiError);
		expect(error.context.itemIndex).toBe(4);
		expect(error.description).toContain('Check "Thread".');
	});
});

describe('what an item says of a success, with the words of the server', () => {
	const item = new Item(itemOf({}).context, 0, [], {
		...unconnected,
		secrets: spellingsOf('s3cret'),
	});
	const said = 'No s3cret';

	it('holds no secret in an error of ours', () => {
		const { message, description } = item.operationError(said, `${said}.`);
		expect([message, description]).toEqual(['No ***', 'No ***.']);
	});

	it('holds none in the error of a request, nor in what n8n keeps of it', () => {
		const error = item.apiError({ ...failure, kind: 'unsuccessful', reason: said });
		expect(error.message).toBe('No ***');
		expect(JSON.stringify(error.context)).not.toContain('s3cret');
	});

	it('holds none in what is known of a failed item', () => {
		const failed = item.failed(item.operationError('no'), { processMsg: said, status: 201 });
		expect(failed.json.details).toEqual({ processMsg: 'No ***', status: 201 });
	});
});

describe('what was caught', () => {
	const item = itemOf({}, { index: 3 });

	it('stays itself when it is an error of n8n, and learns its item', () => {
		const error = new NodeOperationError(node, 'no');
		expect(item.asError(error)).toBe(error);
		expect(error.context.itemIndex).toBe(3);
	});

	it('keeps the item it has', () => {
		const error = toNodeApiError(failure, { node, itemIndex: 1 });
		expect(item.asError(error)).toBe(error);
		expect(error.context.itemIndex).toBe(1);
		const first = new NodeOperationError(node, 'no', { itemIndex: 0 });
		expect(item.asError(first).context.itemIndex).toBe(0);
	});

	it.each([
		[new TypeError('x is not a function'), 'x is not a function'],
		['text', 'text'],
		[undefined, 'undefined'],
	])('becomes an error of the node: %p', (caught, message) => {
		const error = item.asError(caught);
		expect(error).toBeInstanceOf(NodeOperationError);
		expect(error.message).toBe(message);
		expect(error.node).toBe(node);
		expect(error.context.itemIndex).toBe(3);
	});
});
