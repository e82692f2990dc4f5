import { chunk, maxBy, orderBy } from 'lodash';

import type { Change } from '../../../../nodes/XpertAiTrigger/memory';
import type { ChangesQuery } from '../../../../nodes/XpertAiTrigger/reading';

/** What a server does not do although it is asked to. */
export type Ignored = 'where' | 'order' | 'limit';

/** A change that is stamped with one moment and can be seen from another on. */
interface Stored extends Change {
	visibleAt: number;
}

const START = Date.UTC(2026, 0, 1);

/** A server whose conversations change while they are read, with a time of its own. */
export class ChangingServer {
	now = START;

	/** What is to happen before a page is answered. */
	beforePage: () => void = () => undefined;

	private requests = 0;

	private readonly stored: Stored[] = [];

	constructor(private readonly ignored: Ignored[] = []) {}

	/**
	 * Changes conversations at once; late ones are stamped now and seen after so long. Without an order
	 * each has a moment of its own: a page of one moment is in order by chance.
	 */
	change(ids: string[], late = 0): void {
		for (const [index, id] of ids.entries()) {
			if (index === 0 || this.ignored.includes('order')) this.now += 1;
			const updatedAt = new Date(this.now).toISOString();
			this.stored.push({ id, updatedAt, at: this.now, visibleAt: this.now + late });
		}
	}

	/** Each conversation as it is seen now. */
	get visible(): Change[] {
		const seen = this.stored.filter(({ visibleAt }) => visibleAt <= this.now);
		const ids = [...new Set(seen.map(({ id }) => id))];
		return ids.flatMap((id) => {
			const own = seen.filter((one) => one.id === id);
			const last = maxBy(own, ({ visibleAt, at }) => visibleAt * 1e-3 + at * 1e-9);
			return last ? [{ id, updatedAt: last.updatedAt, at: last.at }] : [];
		});
	}

	/** Answers as E5 does; in no order of ours the newest come first. */
	readonly fetch = async (query: ChangesQuery): Promise<Change[]> => {
		this.requests += 1;
		if (this.requests > 5_000) throw new Error('asked without end');
		this.now += 1;
		this.beforePage();
		const { since = 0, without = [], order, limit, offset = 0 } = query;
		const ignores = (what: Ignored) => this.ignored.includes(what);
		const found = this.visible.filter(
			({ id, at }) => ignores('where') || (at >= since && !without.includes(id)),
		);
		const isAscending = order === 'ASC' && !ignores('order');
		const rows = orderBy(found, 'at', isAscending ? 'asc' : 'desc');
		return ignores('limit') ? rows : (chunk(rows.slice(offset), limit)[0] ?? []);
	};
}

/** A change as one text. */
export const named = ({ id, updatedAt }: Change): string => `${id} ${updatedAt}`;
