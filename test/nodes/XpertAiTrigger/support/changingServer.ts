import { orderBy } from 'lodash';

import type { ConversationChange } from '../../../../nodes/XpertAiTrigger/conversationChanges';
import type { Change, ChangesQuery } from '../../../../nodes/XpertAiTrigger/readChanges';

/** A change that is stamped with one moment and can be seen from another on. */
interface Stored extends Change {
	visibleAt: number;
}

const START = Date.UTC(2026, 0, 1);

/** A change of a conversation that was answered on a thread of its name. */
export const answered = (id: string, at: number): ConversationChange => ({
	id,
	at,
	updatedAt: new Date(at).toISOString(),
	threadId: id,
	event: 'answered',
	assistantId: undefined,
	error: undefined,
	tasks: [],
	hasOnlyLeftOverTasks: false,
	record: {},
});

/** A server whose conversations change while they are read, with a time of its own. */
export class ChangingServer {
	now = START;

	/** What is to happen before a page is answered. */
	beforePage: () => void = () => undefined;

	/** How much the time is ahead that it tells; it tells none if undefined. */
	datesBy: number | undefined = 0;

	requests = 0;

	private readonly stored: Stored[] = [];

	/** @param ignoresLimit whether it answers with all there is, however few are asked for */
	constructor(private readonly ignoresLimit = false) {}

	/**
	 * Changes conversations at once; late ones are stamped now and seen after so long.
	 *
	 * @param wrongBy how much the clock of the server is ahead that stamps them
	 */
	change(ids: string[], late = 0, wrongBy = 0): void {
		for (const [index, id] of ids.entries()) {
			if (index === 0) this.now += 1;
			const at = this.now + wrongBy;
			const updatedAt = new Date(at).toISOString();
			this.stored.push({ id, updatedAt, at, visibleAt: this.now + late });
		}
	}

	/** Each conversation as it is seen now. */
	get visible(): ConversationChange[] {
		const seen = new Map<string, Stored>();
		for (const one of this.stored) {
			if (one.visibleAt > this.now) continue;
			if (one.visibleAt >= (seen.get(one.id)?.visibleAt ?? 0)) seen.set(one.id, one);
		}
		return [...seen.values()].map(({ id, at }) => answered(id, at));
	}

	/** Answers as E5 does. */
	readonly fetch = async (query: ChangesQuery) => {
		this.requests += 1;
		if (this.requests > 20_000) throw new Error('asked without end');
		this.now += 1;
		this.beforePage();
		const { since = 0, order, limit } = query;
		const found = this.visible.filter(({ at }) => at >= since);
		const rows = orderBy(found, 'at', order === 'ASC' ? 'asc' : 'desc');
		const serverTime = this.datesBy === undefined ? undefined : this.now + this.datesBy;
		return { changes: this.ignoresLimit ? rows : rows.slice(0, limit), serverTime };
	};
}

/** A change as one text. */
export const named = ({ id, updatedAt }: Change): string => `${id} ${updatedAt}`;
