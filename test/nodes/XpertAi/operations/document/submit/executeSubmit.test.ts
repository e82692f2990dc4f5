import fc from 'fast-check';
import { exceedsShare } from 'nodes/XpertAi/operations/document/submit/disablingLimits';

import { Nights } from '../../../ingest/support/nights';

let nights: Nights;
beforeAll(async () => (nights = await Nights.start()));
afterAll(async () => await nights.close());

it('nothing is disabled where the node runs more than once in an execution, as each time it brings a part', async () => {
	const knowledgebaseId = await nights.knowledgebase();
	await nights.night(knowledgebaseId, { source: { a: 0, b: 0 }, turns: [0] });
	const night = { source: { a: 0 }, turns: [0], runIndex: 1 };
	const { said } = await nights.night(knowledgebaseId, night);
	expect(said).toContain('Nothing was disabled: the node ran more than once in this execution.');
	expect(Object.keys(await nights.found(knowledgebaseId))).toEqual(['a', 'b', 'by hand']);
});

describe('more is missing than may be', () => {
	const share = fc.integer({ min: 1, max: 100 });
	const counts = fc
		.tuple(fc.integer({ min: 1, max: 3000 }), fc.integer({ min: 0, max: 3000 }))
		.map(([before, gone]) => ({ before, gone: Math.min(before, gone) }));

	it.each<[string, number, number, number, boolean]>([
		['one of four', 1, 4, 20, false],
		['one of three', 1, 3, 20, false],
		['nine of nineteen', 9, 19, 20, false],
		['one of four, where none may be', 1, 4, 0, true],
		['none, where none may be', 0, 4, 0, false],
	])('%s', (_, gone, before, most, expected) => {
		expect(exceedsShare(gone, before, most)).toBe(expected);
	});

	it('from ten documents on, or from half of the source on, exactly where the share is larger', () => {
		fc.assert(
			fc.property(counts, share, ({ gone, before }, most) => {
				fc.pre(gone >= 10 || gone * 2 >= before);
				expect(exceedsShare(gone, before, most)).toBe(gone * 100 > most * before);
			}),
		);
	});

	it('never where the share that a message names is set for one run', () => {
		fc.assert(
			fc.property(counts, ({ gone, before }) => {
				fc.pre(gone > 0);
				expect(exceedsShare(gone, before, Math.ceil((gone * 100) / before))).toBe(false);
			}),
		);
	});
});
