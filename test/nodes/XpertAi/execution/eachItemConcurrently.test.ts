import { range } from 'lodash';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { forEachConcurrently } from '../../../../nodes/XpertAi/execution/eachItem';

describe('work in lanes', () => {
	it('is done once for each entry, in order, so much at once', async () => {
		const begun: number[] = [];
		let [underWay, most] = [0, 0];
		await forEachConcurrently(
			range(0, 23),
			4,
			async (entry) => {
				begun.push(entry);
				most = Math.max(most, ++underWay);
				for (let turns = 0; turns < entry % 5; turns++) await nextTurn();
				underWay -= 1;
			},
			() => true,
		);
		expect(begun).toEqual(range(0, 23));
		expect(most).toBe(4);
	});

	it('starts no more once it may not go on, and ends what was begun', async () => {
		const ended: number[] = [];
		await forEachConcurrently(
			range(0, 20),
			3,
			async (entry) => {
				await nextTurn();
				ended.push(entry);
			},
			() => ended.length < 3,
		);
		expect(ended.length).toBeGreaterThanOrEqual(3);
		expect(ended.length).toBeLessThanOrEqual(5);
	});
});
