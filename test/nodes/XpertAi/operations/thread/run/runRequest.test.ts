import { NodeHelpers } from 'n8n-workflow';
import type { IBinaryData, IExecuteFunctions, INodeParameters } from 'n8n-workflow';
import get from 'lodash/get';

import { Item } from '../../../../../../nodes/XpertAi/execution/item';
import { runFields } from '../../../../../../nodes/XpertAi/operations/thread/run/fields';
import { attachments } from '../../../../../../nodes/XpertAi/operations/thread/run/options';
import { readRunRequest } from '../../../../../../nodes/XpertAi/operations/thread/run/runRequest';
import { XpertAi } from '../../../../../../nodes/XpertAi/XpertAi.node';
import { contextWith, unconnected } from '../../../../support/context';
import { node } from '../../../../support/node';
import { thrownBy } from '../../../../support/thrown';

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
	return new Item(context, 1, runFields, unconnected);
}

const requestOf = (...given: Parameters<typeof itemWith>) =>
	readRunRequest(itemWith(...given), 'message', true);

const named = (parameters: Record<string, unknown>) =>
	requestOf(parameters).attachments.map(({ property }) => property);
const refusal = (attachments: unknown, binary?: Record<string, IBinaryData>) =>
	thrownBy(() => requestOf({ options: { attachments } }, binary)).message;

describe('the files to attach', () => {
	it.each([
		['data', ['data']],
		[' attachment_0 , data,', ['attachment_0', 'data']],
		[
			['data', ' 7 '],
			['data', '7'],
		],
		[7, ['7']],
		['data, data', ['data']],
		['', []],
		[' , ', []],
		[[], []],
		[null, []],
		[undefined, []],
	])('are named by %j', (attachments, names) => {
		expect(named({ options: { attachments } })).toEqual(names);
	});

	it('are the fields of the item, by the parameter that names them', () => {
		expect(requestOf({ options: { attachments: 'data' } }).attachments).toEqual([
			{ property: 'data', binary: BINARY.data, parameter: 'Attach Files' },
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
		NodeHelpers.displayParameter({}, attachments, node, { ...description, name });

	it('is not shown to an agent, whose calls have no files', () => {
		expect(shownIn('xpertAi')).toBe(true);
		expect(shownIn('xpertAiTool')).toBe(false);
	});
});

describe('what names no file', () => {
	it.each([
		['scan', BINARY, '"scan", but the item has only 7, data, attachment_0'],
		['data, scan', BINARY, '"scan", but the item has only 7, data, attachment_0'],
		['toString', BINARY, '"toString", but the item has only 7, data, attachment_0'],
		['data', {}, '"data", but the item has no binary field'],
	])('is refused with the names there are: %j', (attachments, binary, says) => {
		expect(refusal(attachments, binary)).toBe(`"Attach Files" names ${says} [item 1]`);
	});

	it.each([[{ mimeType: 'a/b' }], [['data', { mimeType: 'a/b' }]], [['data', '']]])(
		'is refused as what it is: %j',
		(attachments) => {
			expect(refusal(attachments)).toMatch(/^"Attach Files".* must .*\[item 1\]$/);
		},
	);
});
