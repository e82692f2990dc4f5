import { randomUUID } from 'crypto';

import type { Failure } from '../../transport/failure';
import { keyOf } from './fingerprints';
import type { Fingerprints } from './fingerprints';
import type { Journal } from './journal';
import { LEASE, TURN, mayHaveLeft } from './lease';
import type { Looked } from './lease';
import { FIRST_PAGES, LeftBehind, readLanes } from './leftBehind';
import type { Lanes } from './leftBehind';
import type { Names } from './names';
import { takeUp } from './note';
import type { NoteFlaw } from './note';
import type { NoteName, NotesOnServer, ReadNote } from './notesOnServer';
import { Pieces } from './pieces';

const MEMORY: NoteName = { name: 'memory', title: 'n8n: what … has stored' };

/** What of the memory does not count. */
export interface MemoryLoss {
	/** Why what earlier runs have stored does not count. */
	flaw?: NoteFlaw;
	/** How many documents were in pieces of the memory that cannot be read. */
	lost?: number;
}

/** What was read: beside the documents, the turn, what earlier runs have left, and what does not count. */
interface ReadMemory {
	turn: ReadNote;
	left: LeftBehind;
	loss: MemoryLoss;
}

/** The memory of a source as it lies on the server: read, with what the journals hold beyond it, and written anew. */
export class StoredMemory {
	/** A note that the server has given back: an answer that should list it and does not is none. */
	witness?: string;

	/** Tells this writing of it from others. */
	mark?: string;

	/** Whether no content in it is certain. */
	isUncertain = false;

	/** Whether it is to be written though nothing has changed: what lies there is old, or damaged. */
	isStale = false;

	/** Whether it holds all that earlier runs have noted. */
	holdsEarlier = false;

	private pieces = new Pieces();

	private left = new LeftBehind([], {});

	/** The keys of documents that are known without their names; none where that holds for all. */
	private unnamed?: Set<string>;

	/**
	 * @param known takes up what is read, and is what is written
	 */
	constructor(
		private readonly notes: NotesOnServer,
		private readonly known: Fingerprints,
		private readonly names: Names,
	) {}

	/** Whether it is not known what a document is called. */
	isUnnamed(id: string): boolean {
		return this.unnamed === undefined || this.unnamed.has(keyOf(id));
	}

	/**
	 * Reads it and, over it, what the journals hold beyond it.
	 *
	 * @param witness a document that is certainly there
	 * @param before what turn and lease said when the run began, where it has written them since
	 */
	async read(witness?: string, before?: Looked): Promise<ReadMemory | { failure: Failure }> {
		const first = await this.notes.read([TURN, LEASE, MEMORY, ...FIRST_PAGES], witness);
		if ('failure' in first) return first;
		const [turn, lease, memory, ...pages] = first.notes;
		const seen = turn === undefined ? memory && MEMORY : TURN;
		this.witness = seen && this.notes.idOf(seen);
		const included = typeof memory === 'object' ? memory : {};
		const mayBeLost = mayHaveLeft(before ?? { turn, lease });
		const journals = await readLanes(this.notes, pages, { included, witness, mayBeLost });
		if ('failure' in journals) return journals;
		const all = [turn, memory, ...journals.lanes.flatMap((lane) => lane.pages)];
		if (all.includes('of a later version')) return { failure: LATER };
		const loss = await this.takeUp(memory, journals.lanes, witness);
		return 'failure' in loss ? loss : { turn, left: this.left, loss };
	}

	/**
	 * Writes what is known. The pieces go first: until the memory says that it includes the journals, these count.
	 *
	 * @param journal begins anew once the memory holds it
	 */
	async write(journal: Journal): Promise<Failure | undefined> {
		const { known, names, notes, left } = this;
		const { changed } = known;
		const plan = this.pieces.plan(known);
		const pieces = plan.done();
		const keys = pieces.isWhole ? [...known.keys()] : [];
		known.changed = new Set();
		const mark = randomUUID();
		const { includes, closed, unsettled } = left.included;
		if (names.isDue) await names.write();
		const facts = {
			mark,
			includes,
			closed: [...closed, ...journal.included.closed],
			unsettled: [...unsettled, ...journal.included.unsettled],
			pieces: pieces.sizes,
			names: names.lies,
		};
		const written =
			(await notes.writeMany(plan.notes, known)) ??
			(await notes.write({ note: MEMORY, facts, keys }, known));
		if ('failure' in written) {
			for (const key of changed) known.changed.add(key);
			return written.failure;
		}
		this.pieces = pieces;
		this.mark = mark;
		this.isUncertain = false;
		this.isStale = false;
		this.holdsEarlier = true;
		journal.startOver();
		return await this.mend(`${journal.run}:0`);
	}

	private async takeUp(
		memory: ReadNote,
		lanes: Lanes,
		witness?: string,
	): Promise<MemoryLoss | { failure: Failure }> {
		const { known, names, notes } = this;
		const root = typeof memory === 'object' ? memory : undefined;
		const loss: MemoryLoss = typeof memory === 'string' ? { flaw: memory } : {};
		if (root) takeUp(root, known);
		known.changed = new Set();
		if (root?.pieces) {
			const read = await this.pieces.read(notes, root.pieces, { known, witness });
			if ('failure' in read) return read;
			if (read.lost > 0) loss.lost = read.lost;
		}
		const left = new LeftBehind(lanes, root ?? {});
		this.left = left;
		this.holdsEarlier = left.isEmpty && left.damaged.length === 0;
		this.mark = root?.mark;
		this.isUncertain = left.isUncertain;
		this.isStale = root?.isOld === true || left.isOver || loss.lost !== undefined;
		left.takeUp(known, memory);
		names.lies = root?.names ?? names.lies;
		if (root?.names) this.unnamed = new Set(known.changed);
		if (this.isUncertain) known.forgetContents();
		return loss;
	}

	/** Pages that cannot be read would make all contents uncertain once more; the memory includes what they may have said. */
	private async mend(mark: string): Promise<Failure | undefined> {
		const rows = this.left.damaged.map((note) => ({ note, facts: { mark } }));
		return (await this.notes.writeMany(rows, this.known))?.failure;
	}
}

const LATER: Failure = {
	kind: 'unreadable',
	status: 200,
	reason:
		'what this source has stored was noted by a later version of this node, which has to be installed here as well',
	path: '',
	method: 'GET',
};
