import type { Sandbox } from '../../../sandbox';
import type { SequenceExchange } from './recordings';

interface Listed {
	id: string;
	status: string | null;
}

/** How many of the recorded server's conversations have each status, as its totals say. */
const NUMBERS: Array<[status: string | null, label: string]> = [
	['idle', 'search with $gte and status'],
	['error', 'search with $ne'],
	[null, 'search with $isNull'],
];

/** Older than all that a sequence makes, newer than what its lists show first. */
const BETWEEN = '2026-11-21T19:37:00.000Z';

const bodyOf = (search: SequenceExchange | undefined) => {
	const { response } = search ?? {};
	const body = response && 'body' in response ? response.body : {};
	return body as { items?: Listed[]; total?: number };
};

/** The conversations that the recorded searches found, and others to make up their numbers. */
export function arrangeConversations({ store }: Sandbox, exchanges: SequenceExchange[]): void {
	const searches = exchanges.filter(({ label }) => label.startsWith('search with'));
	const listed = new Map(
		searches.flatMap((one) => bodyOf(one).items ?? []).map((one) => [one.id, one]),
	);
	for (const item of listed.values()) store.putConversation({ ...item });
	for (const [status, label] of NUMBERS) {
		const { total } = bodyOf(searches.find((one) => one.label === label));
		if (total === undefined) continue;
		const shown = [...listed.values()].filter((one) => one.status === status).length;
		// One conversation without a run is made by the sequence itself.
		const others = total - shown - (status === null ? 1 : 0);
		for (let made = 0; made < others; made += 1) {
			store.putConversation({ status, createdAt: BETWEEN, updatedAt: BETWEEN });
		}
	}
}
