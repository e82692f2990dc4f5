/**
 * Does a piece of work for each entry, in order, so many at once.
 *
 * @param goOn asked before each piece of work starts
 */
export async function inLanes<Entry>(
	entries: Entry[],
	lanes: number,
	work: (entry: Entry) => Promise<void>,
	goOn: () => boolean,
): Promise<void> {
	const waiting = entries.values();
	const lane = async () => {
		// All lanes take from the same iterator, so each entry is taken once.
		for (const entry of waiting) {
			if (!goOn()) return;
			await work(entry);
		}
	};
	await Promise.all(Array.from({ length: lanes }, lane));
}
