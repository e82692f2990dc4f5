import type { DocumentRecord } from '../../../../../nodes/XpertAi/payloads/document';
import type { Outcome, Send } from '../../../../../nodes/XpertAi/transport/request';
import { answered, broken, failed, succeeded } from './outcomes';

/** What goes wrong with a request on its way; `none` is a request that goes well. */
export type Fault =
	| 'none'
	| 'refused'
	| 'limited'
	| 'unavailable'
	| 'rebuilding'
	| 'gateway, not stored'
	| 'gateway, stored'
	| 'dropped before storing'
	| 'dropped after storing'
	| 'timed out after storing'
	| 'answer cut off'
	| 'stray 404'
	| 'route missing'
	| 'refused for now'
	| 'broken off with 500'
	| `${UnclearAnswer}, ${'stored' | 'not stored'}`;

/** A success that does not show what was sent as stored. */
type UnclearAnswer =
	| 'empty answer'
	| 'empty list'
	| 'foreign JSON'
	| 'other ids'
	| 'one record less';

/** All that can go wrong, and is over as soon as it is tried often enough. */
export const FAULTS: Fault[] = [
	'refused',
	'limited',
	'unavailable',
	'rebuilding',
	'gateway, not stored',
	'gateway, stored',
	'dropped before storing',
	'dropped after storing',
	'timed out after storing',
	'answer cut off',
];

/** What may be over the next time, but is not waited for as long. */
export const ODDITIES: Fault[] = [
	'stray 404',
	'route missing',
	'empty answer, stored',
	'empty answer, not stored',
	'empty list, stored',
	'empty list, not stored',
	'foreign JSON, stored',
	'foreign JSON, not stored',
	'other ids, stored',
	'other ids, not stored',
	'one record less, stored',
];

/** What is said of a whole request and has nothing to do with its documents. */
export const REFUSALS: Fault[] = ['refused for now', 'broken off with 500'];

/** A document as the model reads it: `key` tells it apart, `bad` is the status that refuses it. */
export interface ModelDocument extends DocumentRecord {
	id: string;
	key: number;
	bad?: number;
	/** Whether its id was made for this run. */
	isNew?: boolean;
	/** Given by documents that may be refused with 404 themselves. */
	storageFileId?: string;
	/** Such a document is refused when it is there already. */
	chunks?: DocumentRecord['chunks'];
}

/** A server of E3 in memory: replaces by id, stores one document after another, without transaction. */
export class BulkServer {
	readonly rows: Array<{ id: string; key: number }> = [];

	requests = 0;
	bytes = 0;

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
		this.bytes += Buffer.byteLength(String(body));
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
			case 'stray 404':
				return failed({ kind: 'status', status: 404 });
			case 'route missing':
				return failed({ kind: 'status', status: 404, missing: 'route' });
			case 'refused for now':
				return failed({ kind: 'status', status: 400, reason: 'Not for you' });
			case 'rebuilding':
				return REBUILDING;
			case 'broken off with 500':
				return this.work(body, 1);
			case 'none':
				return this.work(body);
			case 'gateway, stored':
			case 'dropped after storing':
			case 'timed out after storing':
			case 'answer cut off':
				this.work(body);
				return AFTER_STORING[fault];
			default:
				return this.unclear(fault, body);
		}
	}

	private unclear(fault: Fault, body: string): Outcome {
		const sent = JSON.parse(body) as ModelDocument[];
		const outcome = fault.endsWith(', stored') ? this.work(body) : succeeded(sent);
		if (!outcome.ok) return outcome;
		const records = outcome.answer as object[];
		const answers: Record<string, unknown> = {
			'empty answer': undefined,
			'empty list': [],
			'foreign JSON': { success: false },
			'other ids': records.map((record, at) => ({ ...record, id: `other-${at}` })),
			'one record less': records.slice(1),
		};
		// A document whose id was made for this run may be stored under another one.
		const known = !sent.some(({ isNew }) => isNew);
		const kind = known ? fault.replace(/, .*/, '') : 'empty list';
		return { ...outcome, answer: answers[kind] };
	}

	private work(body: string, mostRows = Infinity): Outcome {
		if (Buffer.byteLength(body) > this.maxBytes) return answered(413);
		if (this.missing) return answered(404);
		const answer: object[] = [];
		for (const document of JSON.parse(body) as ModelDocument[]) {
			if (answer.length >= mostRows) return answered(500);
			if (document.bad !== undefined) return answered(document.bad);
			if (document.chunks && this.placeOf.has(document.id)) return answered(400);
			this.store(document);
			answer.push(document);
		}
		return succeeded(answer);
	}

	private store({ id, key }: ModelDocument): void {
		const place = this.placeOf.get(id) ?? this.rows.length;
		this.placeOf.set(id, place);
		this.rows[place] = { id, key };
	}
}

/** What a server says while it embeds everything anew (`knowledge`, "submit while it is rebuilt"). */
export const REBUILDING = failed({
	kind: 'status',
	status: 400,
	reason: 'Embedding rebuild is running',
});

const AFTER_STORING = {
	'gateway, stored': answered(502),
	'dropped after storing': broken('ECONNRESET'),
	'timed out after storing': failed({ kind: 'timeout' }),
	'answer cut off': failed({ kind: 'unreadable', status: 201, reason: 'it breaks off' }),
};
