import { randomUUID } from 'crypto';

import pick from 'lodash/pick';
import range from 'lodash/range';
import sum from 'lodash/sum';

import type { Clock } from '../../transport/clock';
import type { Failure } from '../../transport/failure';
import { DISABLED, Fingerprints, ID_BYTES, UNKNOWN, idOf, keyOf, unpack } from './fingerprints';
import { entriesIn, firstPages, isLater, readJournals, readPages } from './journal';
import type { LeftJournal } from './journal';
import { LEASE, TURN, saidBy } from './lease';
import type { Lease } from './lease';
import { Names } from './names';
import { NotesFailed, SIZES, isRead, orFailure } from './notes';
import type { MemoryNote, NoteName, NotesOnServer, ReadNote } from './notes';

const ROOT: NoteName = ['memory', 'what … has stored'];

/** Two copies: nothing else says what somebody enabled by hand. */
const BY_HAND = [1, 2].map(
	(copy): NoteName => [`by hand ${copy}`, `what of … was disabled or enabled, ${copy}`],
);

const pieceName = (at: number, of: number): NoteName => [
	`piece ${at + 1} of ${of}`,
	`what … has stored, ${at + 1} of ${of}`,
];

/** What went wrong with the memory. */
export interface MemoryTroubles {
	/** The server does not give back what was stored. */
	noRoute?: boolean;
	/** What was stored and is not known any more: since when, and of how many documents, where that is known. */
	lost?: MemoryNote['lost'];
	/** Why the memory was not written; the journal has what it would hold. */
	notWritten?: Failure;
	/** Why it is not known whether what was stored is still there. */
	notAsked?: Failure;
}

/** The memory of a source on the server: read, with what a crashed run has left beyond it, and written anew. */
export class StoredMemory {
	/** What the knowledgebase holds of the source, as far as it is known by now. */
	readonly known = new Fingerprints();
	/** What documents are called, as far as that is known. */
	readonly names: Names;
	readonly troubles: MemoryTroubles = {};
	/** Whether no run has stored anything, as far as notes say: the source is new, or its notes are gone. */
	isNew = false;

	/** What a crashed run has left. */
	protected left: LeftJournal = { run: 0, pages: [], isDamaged: false };

	/** What the root says, and whether that is to be written anew before anything is sent. */
	private root: Pick<MemoryNote, 'run' | 'pieces' | 'names' | 'lost' | 'byHand'> = {};
	private isStale = false;
	/** Pieces to be written whatever they hold. */
	private readonly unreadable = new Set<number>();
	/** Which writing of `by hand` is taken in. */
	private byHand?: string;

	protected constructor(
		protected readonly notes: NotesOnServer,
		private readonly clock: Clock,
	) {
		this.names = new Names(notes);
	}

	/** Whether anything is to be written, at the latest at the end of the run. */
	protected get isDue(): boolean {
		const { byHand, known, left, names, root } = this;
		const isChanged = known.changed.size > 0 || names.isDue || byHand !== root.byHand;
		return this.isStale || left.run > 0 || isChanged;
	}

	/** The last run that it holds. */
	protected get run(): number {
		return this.root.run ?? 0;
	}

	/** Reads it, over it what a crashed run has left, and what was disabled or enabled by hand since; returns `turn`. */
	protected async read(forgetLost = false, before?: Lease['said']): Promise<ReadNote> {
		const first = [TURN, LEASE, ROOT, ...BY_HAND, ...firstPages()];
		const [turn, lease, root, byHand, copy, ...pages] = await this.notes.read(first);
		const said = before ?? saidBy(lease);
		// A root that a late request has written over the one that the lease knows of does not count.
		const isLost = isRead(root) ? (root.run ?? 0) < said.root : (root ?? said.root) !== 0;
		this.left.isDamaged = isLost;
		if (isLost) await this.rebuild();
		else if (isRead(root)) await this.readRoot(root, forgetLost);
		const isLeft = pages.some((page) => isLater(this.run, page));
		if (isLeft || said.sent > this.run) await this.readLeft(said.sent);
		// A document of which no run has learned what became of it has no name yet.
		for (const [key, content] of this.known.entries())
			if (content === UNKNOWN) this.names.unnamed.add(key);
		this.isNew = root === undefined && Math.max(this.left.run, said.root, said.sent) === 0;
		this.takeByHand([byHand, copy].find(isRead));
		return turn;
	}

	/** Writes it before anything is sent. A crashed run's pages are read once more then, unless they are damaged. */
	protected async refresh(last: number): Promise<void> {
		const { run, isDamaged } = this.left;
		if (this.isStale) await this.write(run > 0 && !isDamaged ? run - 1 : last);
	}

	/** Writes all that this run knows; of what has come late of a crashed run's requests, no content is certain. */
	protected async finish(run: number): Promise<void> {
		const { byHand, known, left, notes } = this;
		const own = left.pages.filter((page) => page.run === left.run);
		const writing = ({ page, body }: MemoryNote) => `${page?.at} ${page?.done} ${body.length}`;
		const before = new Set(own.map(writing));
		const now = left.run > 0 ? await readPages(notes, left.run, left.run - 1) : [];
		for (const late of now.filter(isRead))
			if (!before.has(writing(late)))
				for (const [key] of unpack(late.body)) known.take([key, UNKNOWN]);
		await this.write(run, byHand);
	}

	/** Notes that documents may still be found though they are gone, and how many, where that is known. */
	lose(count?: number): void {
		const { lost } = this.troubles;
		const isCounted = count !== undefined && (lost === undefined || lost.count !== undefined);
		const at = new Date(this.clock.now()).toISOString();
		this.troubles.lost = { at, ...(isCounted && { count: count + (lost?.count ?? 0) }) };
		this.isStale = true;
	}

	/** Notes, at any time, that documents are disabled or enabled by hand; returns why they must not be. */
	async noteByHand(ids: string[], disabled: boolean): Promise<Failure | undefined> {
		const noted = await orFailure(async () => {
			const [root, ...copies] = await this.notes.read([ROOT, ...BY_HAND]);
			const before = copies.find(isRead);
			const isTakenIn = isRead(root) && root.byHand === before?.mark;
			const entries = new Map(before && !isTakenIn ? unpack(before.body) : []);
			// Disabling may fail: a document that was enabled before may still be.
			for (const key of ids.map(keyOf))
				entries.set(key, disabled ? (entries.get(key) ?? DISABLED) : UNKNOWN);
			const facts = { mark: randomUUID() };
			await this.notes.write(...BY_HAND.map((note) => ({ note, facts, entries })));
		});
		return noted?.failure;
	}

	/** Writes pieces first, and the root last, which then counts. */
	private async write(run: number, byHand = this.root.byHand): Promise<void> {
		const { known, names, root, unreadable } = this;
		const { lost } = this.troubles;
		const { pieces: before = [] } = root;
		if (names.isDue) await names.write();
		const of = Math.max(before.length, 2 ** Math.ceil(Math.log2(known.size / SIZES.piece)), 1);
		const { changed } = known;
		const dirty = new Set(of === before.length ? unreadable : range(of));
		for (const key of changed) dirty.add(pieceOf(key, of));
		const byPiece = new Map([...dirty].map((at): [number, string[]] => [at, []]));
		let areAll = names.counted.areAll;
		for (const [key] of known.entries()) {
			byPiece.get(pieceOf(key, of))?.push(key);
			areAll &&= !names.unnamed.has(key);
		}
		const pieces = range(of).map((at) => byPiece.get(at)?.length ?? before[at] ?? 0);
		const facts = { run, pieces, names: { ...names.counted, areAll }, lost, byHand };
		known.changed = new Set();
		const pieceNotes = [...byPiece].map(([at, keys]) => ({
			...{ note: pieceName(at, of), facts: { run }, entries: known.entries(keys) },
		}));
		// A piece that is written anew does not show any more that something of it was lost.
		const isSaidFirst = lost && lost !== root.lost && root.run;
		const first = isSaidFirst ? [{ note: ROOT, facts: { ...root, lost } }] : [];
		const notes = [...first, ...pieceNotes, { note: ROOT, facts }];
		const written = await orFailure(async () => await this.notes.write(...notes));
		if (written) for (const key of changed) known.changed.add(key);
		if (written) throw new NotesFailed(written.failure);
		this.root = facts;
		this.isStale = false;
		unreadable.clear();
	}

	/** Reads the pieces; those that cannot be read are rebuilt from names. */
	private async readRoot(root: MemoryNote, forgetLost: boolean): Promise<void> {
		const { known, names, notes, unreadable } = this;
		const { pieces = [], lost } = root;
		this.root = pick(root, 'run', 'pieces', 'names', 'lost', 'byHand');
		this.isStale = forgetLost && lost !== undefined;
		if (!forgetLost) this.troubles.lost = lost;
		names.counted = root.names ?? names.counted;
		notes.witness ??= notes.idOf(ROOT);
		const all = range(pieces.length).map((at) => pieceName(at, pieces.length));
		for (const [at, piece] of (await notes.read(all, SIZES.answer)).entries())
			if (isRead(piece)) for (const entry of unpack(piece.body)) known.take(entry);
			else unreadable.add(at);
		known.changed = new Set();
		if (unreadable.size > 0) await this.rebuild(unreadable);
	}

	/** Takes over from names the documents of pieces that cannot be read, or of all where the root cannot be read. */
	private async rebuild(pieces?: Set<number>): Promise<void> {
		const { known, names } = this;
		const { pieces: sizes = [] } = this.root;
		let missing = sum([...(pieces ?? [])].map((at) => sizes[at]));
		for (const id of await names.derivedIds(pieces !== undefined)) {
			const isIn = !pieces || pieces.has(pieceOf(keyOf(id), sizes.length));
			if (!isIn || known.knows(id)) continue;
			missing -= 1;
			known.expect(id);
			known.uncertain.set(keyOf(id), { isDisabled: false });
		}
		this.isStale = true;
		if (!pieces || !names.counted.areAll) this.lose(missing > 0 ? missing : undefined);
	}

	/** Reads what a crashed run has left. */
	private async readLeft(sent: number): Promise<void> {
		const { known, names, run } = this;
		const left = await readJournals(this.notes, run);
		for (const entry of entriesIn(left.pages)) {
			known.take(entry);
			names.unnamed.add(entry[0]);
		}
		left.isDamaged ||= this.left.isDamaged || Math.max(left.run, run) < sent;
		this.left = left;
		this.isStale = true;
		if (!left.isDamaged) return;
		// What is gone may have changed any document; without a root, pages of earlier runs are read as well.
		known.forgetContents();
		this.lose();
	}

	private takeByHand(note?: MemoryNote): void {
		const { known, names, root } = this;
		this.byHand = note?.mark ?? root.byHand;
		for (const [key, said] of note && this.byHand !== root.byHand ? unpack(note.body) : []) {
			const isDisabled = said === DISABLED;
			if (!known.knows(idOf(key))) names.unnamed.add(key);
			if (isDisabled) known.forget(idOf(key));
			else known.expect(idOf(key));
			known.uncertain.set(key, { isDisabled });
		}
	}
}

/** The piece that a document belongs to, by the end of its ID: some IDs begin with the time. */
const pieceOf = (key: string, of: number) =>
	(key.charCodeAt(ID_BYTES - 1) + 256 * key.charCodeAt(ID_BYTES - 2)) % of;
