import groupBy from 'lodash/groupBy';

import { inLanes } from '../transport/lanes';

/** A piece of work that belongs to a thread. */
export interface ThreadWork<Result> {
	/** Work with the same key runs one after another, in order; work without one is on its own. */
	threadId?: string;
	run: () => Promise<Result>;
}

/**
 * Runs work on different threads side by side and on the same thread one after another, because two
 * runs at once on one thread lose messages or are refused (service behaviour, E4).
 *
 * @param concurrency threads at once
 * @param goOn asked before each piece of work starts
 * @returns the results in the order of the work; `undefined` for work that did not start
 */
export async function inThreadOrder<Result>(
	work: Array<ThreadWork<Result>>,
	concurrency: number,
	goOn: () => boolean,
): Promise<Array<Result | undefined>> {
	const results: Array<Result | undefined> = work.map(() => undefined);
	const lanes = groupBy([...work.keys()], (index) => {
		const { threadId } = work[index] ?? {};
		return threadId === undefined ? `new ${index}` : `thread ${threadId}`;
	});
	const runLane = async (indexes: number[]) => {
		for (const index of indexes) {
			if (!goOn()) return;
			results[index] = await work[index]?.run();
		}
	};
	await inLanes(Object.values(lanes), concurrency, runLane, goOn);
	return results;
}
