import { SourceMemory } from '../../../../../nodes/XpertAi/ingest/memory';
import type { MemoryPlace, MemoryRoutes } from '../../../../../nodes/XpertAi/ingest/memory/notes';
import { derivedId } from '../../../../../nodes/XpertAi/payloads/ids';
import type { RequestOutcome } from '../../../../../nodes/XpertAi/transport/request';
import { calling } from '../../../support/send';
import { virtualTime } from '../../../support/virtualTime';
import { answered, failed } from './outcomes';

export const PLACE: MemoryPlace = {
	knowledgebaseId: 'kb',
	idNamespace: 'kb',
	source: 'a node',
	title: 'Nightly',
};

/** A document by its key; most have IDs that are derived from it. */
export const idOf = (key: string) => derivedId(key < 'k' ? 'kb' : 'somewhere else', key);

/** A document or a note; without a content, a document is disabled. */
export interface Row {
	id: string;
	name?: string;
	processMsg?: string;
	content?: string | null;
}

/** What becomes of a request that is not answered. */
export interface Fault {
	/** Which request of the run, of all or of those that store or disable documents. */
	request: number;
	ofBatches: boolean;
	/** Whether it is refused as too large instead: nothing of it is done. */
	isTooLarge?: boolean;
	/** How many of its rows are stored at once, and after how many further requests the others are; else they never are. */
	rows: number;
	late?: number;
	/** Whether the run ends with it; else it is tried again, or given up. */
	crash: boolean;
	again: boolean;
}

/**
 * A server in memory. It stores the rows of a request in order, also of one that nobody waits for any more; of one ID,
 * the last row counts. People may delete its rows or have them processed.
 */
export class Knowledgebase {
	readonly rows = new Map<string, Row>();
	/** The titles of notes that were written, and the addresses that were asked for. */
	readonly written: string[] = [];
	readonly asked: string[][] = [];

	private late: Array<{ after: number; rows: Row[] }> = [];

	routes(faults: Fault[] = [], refuses: (row: Row) => boolean = () => false): MemoryRoutes {
		let all = 0;
		let batches = 0;
		let isGone = false;
		const answer = (path: string, body: unknown): RequestOutcome => {
			if (isGone) return failed({ kind: 'network' });
			this.carryOut();
			const rows = typeof body === 'string' ? (JSON.parse(body) as Row[]) : [];
			const isBatch = rows.some(({ content }) => content !== undefined);
			const number = { all: all++, batches: isBatch ? batches++ : -1 };
			const fault = faults.find(
				({ request, ofBatches }) => request === (ofBatches ? number.batches : number.all),
			);
			if (fault?.isTooLarge) return answered(413);
			if (!fault) return typeof body === 'string' ? this.store(rows, refuses) : this.status(path);
			isGone = fault.crash;
			for (const row of rows.slice(0, fault.rows)) this.put(row);
			// A run stores nothing more once it disables documents, so that this is never late.
			if (fault.late !== undefined && !rows.some(({ content }) => content === null))
				this.late.push({ after: fault.late, rows: rows.slice(fault.rows) });
			return failed({ kind: 'network' });
		};
		return {
			storePath: '/bulk',
			statusPathOf: (ids) => ids.join(','),
			send: calling(async ({ path, body }) => {
				// Of several requests at once, the later one may be the first to arrive.
				for (let turns = all % 4; turns > 0; turns--) await Promise.resolve();
				return answer(path, body);
			}),
		};
	}

	/** Has what nobody waits for arrive, as far as its time has come. */
	carryOut(all = false): void {
		for (const one of this.late) one.after -= 1;
		const due = this.late.filter(({ after }) => all || after < 0);
		this.late = this.late.filter((one) => !due.includes(one));
		for (const row of due.flatMap(({ rows }) => rows)) this.put(row);
	}

	/** The documents that assistants find, with their contents. */
	get found(): Map<string, string> {
		const rows = [...this.rows.values()];
		return new Map(rows.flatMap(({ id, content }) => (content ? [[id, content] as const] : [])));
	}

	notes(words = ''): Row[] {
		const rows = [...this.rows.values()];
		return rows.filter(({ name, processMsg }) => processMsg !== undefined && name?.includes(words));
	}

	harm(notes: Row[], how: 'processes' | 'deletes'): void {
		for (const note of notes)
			if (how === 'deletes') this.rows.delete(note.id);
			else this.rows.set(note.id, { ...note, processMsg: 'Invalid PDF structure' });
	}

	/** Another one in the same state. */
	copy(): Knowledgebase {
		const copy = new Knowledgebase();
		for (const [id, row] of this.rows) copy.rows.set(id, row);
		return copy;
	}

	put(row: Row): void {
		if (row.processMsg !== undefined) this.written.push(row.name ?? '');
		this.rows.set(row.id, row);
	}

	private store(rows: Row[], refuses: (row: Row) => boolean): RequestOutcome {
		if (rows.length === 0) throw new Error('a request with nothing in it');
		for (const row of rows) {
			if (typeof row.id !== 'string') return answered(400);
			if (refuses(row)) return answered(422);
			this.put(row);
		}
		return { ok: true, status: 201, answer: rows.map(({ id }) => ({ id })) };
	}

	private status(path: string): RequestOutcome {
		this.asked.push(path.split(','));
		const answer = path.split(',').flatMap((id) => {
			const row = this.rows.get(id);
			return row ? [{ id, processMsg: row.processMsg }] : [];
		});
		return { ok: true, status: 200, answer };
	}
}

/** Opens the memory; a run before that has not closed it has crashed, and the minute that takes is none. */
export async function open(
	routes: MemoryRoutes,
	beginning: ConstructorParameters<typeof SourceMemory>[2] = {},
	place = PLACE,
): Promise<SourceMemory> {
	return await new SourceMemory(place, routes, { clock: virtualTime(), ...beginning }).open();
}

/** What a dry run remembers. */
export async function recall(routes: MemoryRoutes, place = PLACE) {
	const read = await new SourceMemory(place, routes).open('to read');
	if (read.sendBlockedBy) throw new Error(read.sendBlockedBy.reason);
	return read;
}
