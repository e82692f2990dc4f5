import { NodeHelpers } from 'n8n-workflow';
import type { IBinaryData, IExecuteFunctions, INodeParameters } from 'n8n-workflow';
import get from 'lodash/get';

import { Item } from '../../../../../../nodes/XpertAi/execution/item';
import {
	runFields,
	startFields,
} from '../../../../../../nodes/XpertAi/operations/thread/run/fields';
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
	fields = runFields,
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
	return new Item(context, 1, fields, unconnected);
}

const requestOf = (...given: Parameters<typeof itemWith>) =>
	readRunRequest(itemWith(...given), 'message', true);

const named = (parameters: Record<string, unknown>) =>
	requestOf(parameters).attachments.map(({ property }) => property);
const refusal = (attachments: unknown, binary?: Record<string, IBinaryData>) =>
	thrownBy(() => requestOf({ options: { attachments } }, binary)).message;

describe("a body of the user's own for Start Run", () => {
	const start = (input: object) => {
		const options = { bodyMode: 'json', jsonBody: { assistant_id: 'a', input } };
		return readRunRequest(itemWith({ options }, {}, startFields), 'message', false);
	};

	it('may say something or have it answered again, and must not decide', () => {
		expect(start({ action: 'retry' }).body).toMatchObject({ input: { action: 'retry' } });
		const decision = { action: 'resume', target: {}, decision: { type: 'confirm' } };
		expect(thrownBy(() => start(decision)).message).toContain(
			'"JSON Body" must not decide: use Thread: Decide',
		);
	});
});

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

	it('are none with a JSON body', () => {
		expect(
			named({
				options: { bodyMode: 'json', jsonBody: '{"assistant_id":"a"}', attachments: 'gone' },
			}),
		).toEqual([]);
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
