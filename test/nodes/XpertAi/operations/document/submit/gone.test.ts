import { percentOf } from '../../../../../../nodes/XpertAi/operations/document/submit/gone';
import { Nights } from '../../../ingest/support/nights';
import type { Night } from '../../../ingest/support/nights';

let nights: Nights;
beforeAll(async () => (nights = await Nights.start()));
afterAll(async () => await nights.close());

/** A night that brings less than the one before. */
async function less(tonight: Partial<Night> = {}) {
	const knowledgebaseId = await nights.knowledgebase();
	await nights.night(knowledgebaseId, { source: { a: 0, b: 0 }, turns: [0] });
	const course = await nights.night(knowledgebaseId, {
		source: { a: 0 },
		turns: [0],
		...tonight,
	});
	return { said: course.said, found: Object.keys(await nights.found(knowledgebaseId)) };
}

it('what a whole run did not bring is taken out of answers', async () => {
	expect((await less()).found).toEqual(['a', 'by hand']);
});

it('nothing is where the node runs more than once in an execution, as each time it brings a part', async () => {
	const { said, found } = await less({ runIndex: 1 });
	expect(said).toContain('Nothing was disabled: the node ran more than once in this execution.');
	expect(found).toEqual(['a', 'b', 'by hand']);
});

it('a document that somebody has deleted on the server is stored anew', async () => {
	const knowledgebaseId = await nights.knowledgebase();
	const night: Night = { source: { a: 0, b: 0 }, turns: [0] };
	await nights.night(knowledgebaseId, night);
	await nights.found(knowledgebaseId);
	nights.lose(knowledgebaseId, 'a');
	await nights.night(knowledgebaseId, night);
	expect(await nights.found(knowledgebaseId)).toEqual(nights.expected(night.source));
});

it('what is gone is told as a share that a limit of it allows', () => {
	expect([percentOf(1, 3), percentOf(3, 3), percentOf(1, 100), percentOf(1, 1000)]).toEqual([
		34, 100, 1, 1,
	]);
	expect(percentOf(0, 0)).toBe(0);
});
