import { itemPerDocument } from '../../../../../nodes/XpertAi/operations/document/processing';

const unknown = (id: string) => ({ id, status: 'unknown' });

describe('an item for each document asked for', () => {
	it('comes in the order asked, also where the server does not know it', () => {
		const answer = [
			{ id: 'c', status: 'finish' },
			{ id: 'a', status: null },
		];
		expect(itemPerDocument(answer, ['a', 'b', 'c', 'a'], unknown)).toEqual([
			{ id: 'a', status: null },
			{ id: 'b', status: 'unknown' },
			{ id: 'c', status: 'finish' },
			{ id: 'a', status: null },
		]);
	});

	it('knows a document by its id, however the server writes it, and says that it was found', () => {
		expect(itemPerDocument([{ id: 'abc' }], ['ABC'], unknown, { queued: true })).toEqual([
			{ id: 'abc', queued: true },
		]);
	});

	it('comes before what the server says of others', () => {
		expect(itemPerDocument([{ id: 'z' }, 5], ['a'], unknown)).toEqual([unknown('a'), { id: 'z' }]);
	});

	it.each([
		[{ ok: true }, [{ ok: true }]],
		[undefined, [{}]],
	])('is made of an answer that is no list as of any other: %j', (answer, items) =>
		expect(itemPerDocument(answer, ['a'], unknown)).toEqual(items),
	);
});
