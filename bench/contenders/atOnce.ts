/** Does work on all, so many at once; gives the sum of what came out. */
export async function atOnce<Input>(
	concurrency: number,
	all: Input[],
	work: (one: Input) => Promise<number>,
): Promise<number> {
	const waiting = all.values();
	let sum = 0;
	const lane = async () => {
		for (const one of waiting) {
			const count = await work(one);
			sum += count;
		}
	};
	await Promise.all(Array.from({ length: concurrency }, lane));
	return sum;
}
