import { getStatus } from 'nodes/XpertAi/operations/document/processingOperations';

it('a document is known by its ID, in whichever case the server writes it', () => {
	const found = { id: 'abc', status: 'finish' };
	expect(getStatus.toOutput?.([found], { documentIds: 'ABC,D' })).toEqual([
		found,
		{ id: 'D', status: 'unknown' },
	]);
});
