import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod';

import { optionsField, simplify } from '../../../../nodes/XpertAi/execution/fields';
import { finite } from '../../../../nodes/XpertAi/payloads/common';
import { itemOf } from '../../support/context';
import { thrownBy } from '../../support/thrown';

const fields: INodeProperties[] = [
	simplify,
	{
		displayName: 'Thread',
		name: 'threadId',
		type: 'resourceLocator',
		default: { mode: 'id', value: '' },
	},
	{ displayName: 'Tags', name: 'tags', type: 'multiOptions', options: [], default: ['a', 'b'] },
	optionsField([
		{ displayName: 'Minutes', name: 'minutes', type: 'number', default: 15 },
		{ displayName: 'Title', name: 'title', type: 'string', default: 'Untitled' },
		{ displayName: 'Key', name: 'key', type: 'string', default: '' },
	]),
];

const schema = z.object({
	simplify: z.boolean(),
	threadId: z.string().optional(),
	tags: z.array(z.string()),
	options: z.object({ minutes: finite.min(1), title: z.string().trim(), key: z.string() }),
});

const read = (parameters: Record<string, unknown>) =>
	itemOf(parameters, { fields }).settings(schema);

const BY_DEFAULT = {
	simplify: true,
	tags: ['a', 'b'],
	options: { minutes: 15, title: 'Untitled', key: '' },
};

describe('parameters that say how the node works', () => {
	it('are what their fields are by default where nothing is set', () => {
		expect(read({})).toEqual(BY_DEFAULT);
		expect(read({ options: {} })).toEqual(BY_DEFAULT);
	});

	it.each([undefined, null, ''])('are so too where an expression gives %j', (nothing) => {
		expect(
			read({ simplify: nothing, tags: undefined, options: { minutes: nothing, title: nothing } }),
		).toEqual(BY_DEFAULT);
		expect(read({ options: nothing })).toEqual(BY_DEFAULT);
	});

	it('are read by the types of their fields, each for itself', () => {
		const threadId = { mode: 'id', value: ' 7 ' };
		expect(read({ simplify: 'false', threadId, tags: ['c'], options: { minutes: '2' } })).toEqual({
			simplify: false,
			threadId: '7',
			tags: ['c'],
			options: { minutes: 2, title: 'Untitled', key: '' },
		});
		expect(read({ options: { title: ' 5 ' } }).options).toMatchObject({ minutes: 15, title: '5' });
		expect(read({ options: '{"minutes": 3}' }).options.minutes).toBe(3);
	});

	it.each([
		[{ options: { minutes: 0 } }, '"Minutes" in "Options" must be at least 1, but is 0'],
		[
			{ options: { minutes: Infinity } },
			'"Minutes" in "Options" must be a number, but is Infinity',
		],
		[{ options: { title: {} } }, '"Title" in "Options" must be text, but is {}'],
		[{ options: [1] }, '"Options" must be an object (JSON), but is [1]'],
		[{ simplify: 'perhaps' }, '"Simplify" must be true or false, but is "perhaps"'],
	])('in %j are refused by their names', (parameters, message) => {
		expect(thrownBy(() => read(parameters)).message).toBe(`${message}`);
	});
});
