import type { Outcome, Send } from '../../../../../nodes/XpertAi/transport/request';
import { answered, broken, failed } from './outcomes';

/** What goes wrong with a request on its way; `none` is a request that goes well. */
export type Fault =
	| 'none'
	| 'refused'
	| 'limited'
	| 'unavailable'
	| 'gateway, not stored'
	| 'gateway, stored'
	| 'dropped before storing'
	| 'dropped after storing'
	| 'timed out after storing'
	| 'answer cut off';

/** All that can go wrong and may be over the next time. */
export const FAULTS: Fault[] = [
	'refused',
	'limited',
	'unavailable',
	'gateway, not stored',
	'gateway, stored',
	'dropped before storing',
	'dropped after storing',
	'timed out after storing',
	'answer cut off',
];

/** A document as the model reads it: `key` tells it apart, `bad` is the status that refuses it. */
export interface ModelDocument {
	id?: string;
	key: number;
	bad?: number;
	/** Given by documents that may be refused with 404 themselves. */
	storageFileId?: string;
}

/** A server of E3 in memory: replaces by id, stores one document after another, without transaction. */
export class BulkServer {
	/** Keys of the rows; a row whose document had no id is a new one each time. */
	readonly rows: Array<{ id?: string; key: number }> = [];

	requests = 0;

	/** The most requests that were under way at once. */
	most = 0;

	private underWay = 0;

	private readonly placeOf = new Map<string, number>();

	constructor(
		/** What goes wrong with the requests, one after another; afterwards all goes well. */
		private readonly faults: Fault[] = [],
		private readonly maxBytes = Infinity,
		/** Whether there is no such knowledgebase. */
		private readonly missing = false,
	) {}

	/** How many rows hold a document. */
	copiesOf(key: number): number {
		return this.rows.filter((row) => row.key === key).length;
	}

	readonly send: Send = async ({ body }) => {
		const fault = this.faults[this.requests++] ?? 'none';
		this.most = Math.max(this.most, ++this.underWay);
		for (let turn = 0; turn < this.requests % 5; turn++) await Promise.resolve();
		const outcome = this.outcomeOf(fault, String(body));
		this.underWay -= 1;
		return outcome;
	};

	private outcomeOf(fault: Fault, body: string): Outcome {
		switch (fault) {
			case 'refused':
				return broken('ECONNREFUSED');
			case 'limited':
				return answered(429, 1000);
			case 'unavailable':
				return answered(503, 0);
			case 'gateway, not stored':
				return answered(503);
			case 'dropped before storing':
				return broken('ECONNRESET');
			case 'none':
				return this.work(body);
			default:
				this.work(body);
				return AFTER_STORING[fault];
		}
	}

	private work(body: string): Outcome {
		if (Buffer.byteLength(body) > this.maxBytes) return answered(413);
		if (this.missing) return answered(404);
		const answer: object[] = [];
		for (const document of JSON.parse(body) as ModelDocument[]) {
			if (document.bad !== undefined) return answered(document.bad);
			this.store(document);
			answer.push({ ...document, id: document.id ?? `new-${this.rows.length}` });
		}
		return { ok: true, status: 201, answer };
	}

	private store({ id, key }: ModelDocument): void {
		const place = (id === undefined ? undefined : this.placeOf.get(id)) ?? this.rows.length;
		if (id !== undefined) this.placeOf.set(id, place);
		this.rows[place] = { id, key };
	}
}

const AFTER_STORING = {
	'gateway, stored': answered(502),
	'dropped after storing': broken('ECONNRESET'),
	'timed out after storing': failed({ kind: 'timeout' }),
	'answer cut off': failed({ kind: 'unreadable', status: 201, reason: 'it breaks off' }),
};
