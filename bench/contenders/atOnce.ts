import { forEachConcurrently } from '../../nodes/XpertAi/execution/eachItem';

/** Does work on all, so many at once; gives the sum of what came out. */
export async function atOnce<Input>(
	concurrency: number,
	all: Input[],
	work: (one: Input) => Promise<number>,
): Promise<number> {
	let sum = 0;
	const count = async (one: Input) => {
		const found = await work(one);
		sum += found;
	};
	await forEachConcurrently(all, concurrency, count, () => true);
	return sum;
}
