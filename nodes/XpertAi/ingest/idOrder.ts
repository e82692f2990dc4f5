/**
 * Has work on the same ids done one after another, in the order it was given, so that the later of two
 * documents with one id is the one that stays.
 */
export class IdOrder {
	/** The last work given for each id, as long as it is under way. */
	private readonly last = new Map<string, Promise<void>>();

	/** Does a piece of work as soon as all earlier ones on its ids have ended. */
	async after(ids: string[], work: () => Promise<void>): Promise<void> {
		const earlier = ids.flatMap((id) => this.last.get(id) ?? []);
		const done = earlier.length === 0 ? work() : Promise.allSettled(earlier).then(work);
		for (const id of ids) this.last.set(id, done);
		try {
			await done;
		} finally {
			for (const id of ids) if (this.last.get(id) === done) this.last.delete(id);
		}
	}
}
