import { answerItems, deletedItem, simplified } from '../../../../nodes/XpertAi/execution/outputs';

describe('the output of an answer', () => {
	it.each([
		[{ a: 1 }, [{ a: 1 }]],
		[
			[{ a: 1 }, { b: 2 }],
			[{ a: 1 }, { b: 2 }],
		],
		[[], []],
		[
			[1, 'a', [2]],
			[{ response: 1 }, { response: 'a' }, { response: [2] }],
		],
		[3, [{ response: 3 }]],
		['text', [{ response: 'text' }]],
		[false, [{ response: false }]],
		[null, [{ response: null }]],
		[undefined, [{}]],
	])('of %j is %j', (answer, items) => expect(answerItems(answer)).toEqual(items));

	it.each([
		[{ raw: [], affected: 1 }, { deleted: true }],
		[{ originalName: 'hello.txt', deletedAt: null }, { deleted: true }],
		[undefined, { deleted: true }],
		['ok', { deleted: true }],
		[{ raw: [], affected: 0 }, { deleted: false }],
	])('of a delete that answered %j is %j', (answer, item) =>
		expect(deletedItem(answer)).toEqual([item]),
	);
});

describe('Simplify', () => {
	const results = [{ id: 1, name: 'a', tenant: {} }, { other: 1 }];

	it('keeps the named keys, and results without any of them whole', () => {
		expect(results.map((one) => simplified(['name', 'id', 'size'], one))).toEqual([
			{ id: 1, name: 'a' },
			{ other: 1 },
		]);
	});
});
