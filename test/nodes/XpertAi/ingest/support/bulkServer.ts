import type { DocumentRecord } from '../../../../../nodes/XpertAi/payloads/document';
import type { RequestOutcome } from '../../../../../nodes/XpertAi/transport/request';
import type { RawSend } from '../../../support/send';
import { answered, broken, failed, succeeded } from './outcomes';

export type Fault =
	| 'refused'
	| 'limited'
	| 'rebuilding'
	| 'dropped before storing'
	| 'timed out after storing'
	| 'refused for now';

/** A document as the model reads it: `key` tells it apart, `bad` is the status that refuses it. */
export interface ModelDocument extends DocumentRecord {
	id: string;
	key: number;
	bad?: number;
	/** Whether its id was made for this run. */
	lacksStableId?: boolean;
	/** Given by documents that may be refused with 404 themselves. */
	storageFileId?: string;
}

/** A server of E3 in memory: replaces by id, stores one document after another, without transaction. */
export class BulkServer {
	readonly rows: Array<{ id: string; key: number }> = [];

	requests = 0;

	private readonly placeOf = new Map<string, number>();

	constructor(
		/** What goes wrong with the requests, one after another; afterwards all goes well. */
		private readonly faults: Fault[] = [],
		private readonly maxBytes = Infinity,
		private readonly missing = false,
	) {}

	readonly send: RawSend = async ({ body }) => {
		const fault = this.faults[this.requests++];
		for (let turn = 0; turn < this.requests % 5; turn++) await Promise.resolve();
		switch (fault) {
			case 'refused':
				return broken('ECONNREFUSED');
			case 'limited':
				return answered(429, 1000);
			case 'dropped before storing':
				return broken('ECONNRESET');
			case 'refused for now':
				return failed({ kind: 'status', status: 400, reason: 'Not for you' });
			case 'rebuilding':
				return REBUILDING;
			case 'timed out after storing':
				this.work(String(body));
				return failed({ kind: 'timeout' });
			default:
				return this.work(String(body));
		}
	};

	private work(body: string): RequestOutcome {
		if (Buffer.byteLength(body) > this.maxBytes) return answered(413);
		if (this.missing) return answered(404);
		const answer: object[] = [];
		for (const document of JSON.parse(body) as ModelDocument[]) {
			if (document.bad !== undefined) return answered(document.bad);
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
