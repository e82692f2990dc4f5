import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod';

import {
	numberField,
	optionsField,
	simplify,
	textField,
} from '../../../../nodes/XpertAi/execution/fields';
import { finite } from '../../../../nodes/XpertAi/payloads/common';
import { itemOf } from '../../support/context';
import { thrownBy } from '../../support/thrown';

const fields: INodeProperties[] = [
	simplify,
	{
		...textField('threadId', 'Thread'),
		type: 'resourceLocator',
		default: { mode: 'id', value: '' },
	},
	{ ...textField('tags', 'Tags'), type: 'multiOptions', options: [], default: ['a', 'b'] },
	optionsField([
		numberField('minutes', 'Minutes', undefined, { default: 15 }),
		textField('title', 'Title', undefined, { default: 'Untitled' }),
		textField('key', 'Key'),
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

const OPTIONS = { minutes: 15, title: 'Untitled', key: '' };
const BY_DEFAULT = { simplify: true, tags: ['a', 'b'], options: OPTIONS };

describe('settings', () => {
	it.each<[Record<string, unknown>, object]>([
		[{}, {}],
		[{ options: {} }, {}],
		...[undefined, null, ''].flatMap(
			(nothing): Array<[Record<string, unknown>, object]> => [
				[{ simplify: nothing, tags: undefined, options: { minutes: nothing, title: nothing } }, {}],
				[{ options: nothing }, {}],
			],
		),
		[
			{ simplify: 'false', tags: ['c'] },
			{ simplify: false, tags: ['c'] },
		],
		[{ threadId: { mode: 'id', value: ' 7 ' } }, { threadId: '7' }],
		[{ options: { title: ' 5 ' } }, { options: { ...OPTIONS, title: '5' } }],
		[{ options: '{"minutes": 3}' }, { options: { ...OPTIONS, minutes: 3 } }],
	])('in %j are %j', (parameters, expected) => {
		expect(read(parameters)).toEqual({ ...BY_DEFAULT, ...expected });
	});

	it.each([
		[{ options: { minutes: 0 } }, '"Minutes" in "Options" must be at least 1, but is 0'],
		[{ options: { minutes: 1 / 0 } }, '"Minutes" in "Options" must be a number, but is Infinity'],
		[{ options: { title: {} } }, '"Title" in "Options" must be text, but is {}'],
		[{ options: [1] }, '"Options" must be an object (JSON), but is [1]'],
		[{ simplify: 'perhaps' }, '"Simplify" must be true or false, but is "perhaps"'],
	])('in %j are refused: %s', (parameters, message) => {
		expect(thrownBy(() => read(parameters)).message).toBe(message);
	});
});
